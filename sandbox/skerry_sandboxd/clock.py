"""Time as an argument: wall clock for grants and proofs, monotonic for durations and idleness."""

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Clock"]


@dataclass(frozen=True)
class Clock:
    """`wall` in seconds since the Unix epoch, `monotonic` in seconds since some moment."""

    wall: Callable[[], float] = time.time
    monotonic: Callable[[], float] = time.monotonic
