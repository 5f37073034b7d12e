"""How the commands that go into a sandbox get there, and what they say when they can't."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import Any

from skerry_cli.bridge import Door, Refused
from skerry_cli.kubectl import Kubectl, KubectlError, find_kubectl
from skerry_cli.sandboxes import NoSandbox, pod_of, target_of

__all__ = ["BAD_INPUT", "by_kubectl", "entered"]

BAD_INPUT = 2
_INTERRUPTED = 130
_IN_USE_SECONDS = 60.0
"""A sandbox that nobody holds ends when it was not used for idleSeconds; a request counts as use."""


def by_kubectl(
    act: Callable[[Kubectl], Coroutine[Any, Any, int]],
    namespace: str | None,
    context: str | None,
    *also: type[Exception],
) -> int:
    """The exit code of `act`; 2, and why on stderr, where there is no way in or it raises one of `also`."""
    told: tuple[type[Exception], ...] = (KubectlError, NoSandbox, Refused, *also)
    try:
        return asyncio.run(act(Kubectl(find_kubectl(os.environ), namespace, context)))
    except told as error:
        print(f"skerry: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        return _INTERRUPTED


@asynccontextmanager
async def entered(kubectl: Kubectl, name: str) -> AsyncIterator[tuple[Door, str]]:
    """The door of a sandbox and the name of its Pod; it counts as used for as long as it is open.

    Raises:
        NoSandbox: there is none, or nothing runs in it.
        KubectlError: no such object, or no way to it.
    """
    pod = await pod_of(kubectl, target_of(name))
    async with Door.opened(kubectl, pod) as door:
        used = asyncio.create_task(_use(door))
        try:
            yield door, pod
        finally:
            used.cancel()
            await asyncio.gather(used, return_exceptions=True)


async def _use(door: Door) -> None:
    while True:
        await asyncio.sleep(_IN_USE_SECONDS)
        with suppress(KubectlError, Refused):  # What it is used for will say so.
            await door.call("GET", "/v1/idle")
