"""Appending once: a repeated append with the same key answers as the first did, and appends nothing."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from skerry_api.sandboxd_api import Reason, WriteResult
from skerry_sandboxd.errors import ApiError

__all__ = ["AppendKeys", "Slot"]

_CAPACITY: Final = 4096


@dataclass
class Slot:
    """One key's append: what was appended, and the answer once it is there."""

    content: tuple[str, bytes]
    result: WriteResult | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class AppendKeys:
    """The newest keys with their answers."""

    def __init__(self) -> None:
        self._slots: OrderedDict[str, Slot] = OrderedDict()

    @asynccontextmanager
    async def once(self, key: str | None, content: tuple[str, bytes]) -> AsyncIterator[Slot]:
        """Hold the key's slot; its `result` is None when the append is still to be done. Raises ApiError (KeyConflict)."""
        if key is None:
            yield Slot(content)
            return
        slot = self._slots.setdefault(key, Slot(content))
        if slot.content != content:
            raise ApiError(Reason.KEY_CONFLICT, f"key {key} was used with other content", field="key")
        self._slots.move_to_end(key)
        while len(self._slots) > _CAPACITY:
            self._slots.popitem(last=False)
        async with slot.lock:
            yield slot
