"""Before an epoch's first tool call the world must know that a tool runs: only then is a retry safe to refuse."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

__all__ = ["FirstToolCall"]


class FirstToolCall:
    """A gate that opens once `report` has returned; calls made side by side all wait for it."""

    def __init__(self, report: Callable[[], Awaitable[None]]) -> None:
        self._report = report
        self._lock = asyncio.Lock()
        self._reported = False

    async def passed(self) -> None:
        """Return when the report was accepted; what `report` raises passes, and the next call tries again."""
        if self._reported:
            return
        async with self._lock:
            if not self._reported:
                await self._report()
                self._reported = True
