"""Awaiting a condition that nobody announces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

__all__ = ["eventually"]


async def eventually(holds: Callable[[], object], *, within: float = 20, every: float = 0.002) -> None:
    """Return when `holds()` is true. Raises TimeoutError after `within` seconds."""
    async with asyncio.timeout(within):
        while not holds():  # noqa: ASYNC110 - what is watched belongs to code under test, which sets no event
            await asyncio.sleep(every)
