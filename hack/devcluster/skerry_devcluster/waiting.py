"""Waiting for a condition of somebody else's process, with a deadline."""

from __future__ import annotations

import time
from collections.abc import Callable

from skerry_devcluster.errors import StartError

__all__ = ["wait_until"]

_INTERVAL = 0.05


def wait_until(
    condition: Callable[[], bool], what: str, *, seconds: float, check: Callable[[], None] = lambda: None
) -> None:
    """Return once the condition holds. `check` raises if it never will.

    Raises:
        StartError: it does not hold in time.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        check()
        if time.monotonic() > deadline:
            raise StartError(f"{what}: not after {seconds:g} s")
        time.sleep(_INTERVAL)
