"""Awaiting a condition that nobody announces."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

__all__ = ["eventually", "eventually_true"]


async def eventually(holds: Callable[[], object], *, within: float = 20, every: float = 0.002) -> None:
    """Return when `holds()` is true. Raises TimeoutError after `within` seconds."""
    async with asyncio.timeout(within):
        while not holds():  # noqa: ASYNC110 - what is watched belongs to code under test, which sets no event
            await asyncio.sleep(every)


async def eventually_true(
    holds: Callable[[], Awaitable[object]], *, within: float = 60, every: float = 0.2
) -> None:
    """Like eventually, for a question that itself must be awaited, such as a read of the API server."""
    async with asyncio.timeout(within):
        while not await holds():  # noqa: ASYNC110 - the API server sets no event here
            await asyncio.sleep(every)
