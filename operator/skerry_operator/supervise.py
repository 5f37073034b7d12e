"""Long-lived tasks that are only ever ended by us: if one ends by itself, the process has failed."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from skerry_operator.errors import OperatorError

__all__ = ["Ended", "Tasks"]


class Ended(OperatorError):
    """A task that should run for ever has ended."""


class Tasks:
    def __init__(self) -> None:
        self._tasks: dict[str, asyncio.Task[Any]] = {}

    def start(self, name: str, work: Coroutine[Any, Any, Any]) -> None:
        self._tasks[name] = asyncio.create_task(work, name=name)

    async def until(self, stop: asyncio.Event) -> None:
        """Return when `stop` is set; raise when a task ends before: its own exception, or Ended."""
        stopping = asyncio.create_task(stop.wait(), name="stop")
        try:
            await asyncio.wait({stopping, *self._tasks.values()}, return_when=asyncio.FIRST_COMPLETED)
            for name, task in self._tasks.items():
                if task.done():
                    task.result()
                    raise Ended(f"{name} ended")
        finally:
            stopping.cancel()

    async def end(self, name: str) -> None:
        """Cancel the task and wait for it; its failure was told by `until` already."""
        task = self._tasks.pop(name, None)
        if task is not None:
            task.cancel()
            await asyncio.wait({task})
            if not task.cancelled():
                task.exception()  # retrieved, so that nothing warns of it

    async def end_all(self) -> None:
        """All of them, the youngest first."""
        for name in reversed(list(self._tasks)):
            await self.end(name)
