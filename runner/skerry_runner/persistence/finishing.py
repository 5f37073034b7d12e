"""Writes that were begun are finished, though whoever asked for them is cancelled meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

__all__ = ["Finishing"]

T = TypeVar("T")
SETTLE_SECONDS = 5.0


class Finishing:
    """A result that a cancelled run already has is worth its checkpoint: the next epoch need not get it again.

    A statement that is cut off may also keep a database file locked for as long as something refers to it.
    """

    def __init__(self) -> None:
        self._begun: set[asyncio.Task[Any]] = set()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """What `work` returns or raises; if the caller is cancelled, it goes on nevertheless."""
        task = asyncio.get_running_loop().create_task(work)
        self._begun.add(task)
        task.add_done_callback(self._end)
        return await asyncio.shield(task)

    def _end(self, task: asyncio.Task[Any]) -> None:
        self._begun.discard(task)
        if not task.cancelled():
            task.exception()  # Seen: nobody may be left to ask for it.

    async def settle(self) -> None:
        """Return when all is done that was begun; what takes too long is cancelled."""
        if not self._begun:
            return
        _, late = await asyncio.wait(set(self._begun), timeout=SETTLE_SECONDS)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late)
