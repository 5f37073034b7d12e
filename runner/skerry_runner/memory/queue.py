"""The queue between the agent and the store: snapshots of one key become one write, however fast they come."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable

from skerry_runner.memory.snapshot import Snapshot, SnapshotKey, folded

__all__ = ["MemoryQueue", "Write"]

Write = Callable[[Snapshot], Awaitable[None]]
"""Puts a snapshot where it survives this process. May raise anything: then it waits for the next turn."""


class MemoryQueue:
    """Latest wins, flags add up. `enqueue` may be called from any thread; nobody waits in it for a store.

    Two locks, neither held across a wait: one for what waits, one for whose turn it is to write.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._entries: dict[SnapshotKey, Snapshot] = {}
        self._entries_lock = threading.Lock()
        self._writing = False
        self._turn_lock = threading.Lock()

    def enqueue(self, snapshot: Snapshot) -> int:
        """Have the snapshot written at the next turn; how many keys wait now."""
        with self._entries_lock:
            self._fold(snapshot)
            return len(self._entries)

    def waiting(self) -> tuple[Snapshot, ...]:
        """What is not written yet."""
        with self._entries_lock:
            return tuple(self._entries.values())

    async def settle(self, seconds: float) -> BaseException | None:
        """Write all that waits, also what comes meanwhile; the first thing that went wrong, if anything.

        What could not be written goes on waiting. Of several callers at a time one writes, and the others return.
        """
        with self._turn_lock:
            if self._writing:
                return None
            self._writing = True
        try:
            async with asyncio.timeout(seconds):
                return await self._drain()
        except TimeoutError as error:
            return error
        finally:
            with self._turn_lock:
                self._writing = False

    async def _drain(self) -> Exception | None:
        failed: list[Snapshot] = []
        first: Exception | None = None
        try:
            while (snapshot := self._take()) is not None:
                failed.append(snapshot)
                try:
                    await self._write(snapshot)
                except Exception as error:  # noqa: BLE001 - whatever the store says, the run goes on
                    first = first or error
                else:
                    failed.pop()
        finally:
            with self._entries_lock:
                for snapshot in failed:
                    self._fold(snapshot)
        return first

    def _take(self) -> Snapshot | None:
        with self._entries_lock:
            key = next(iter(self._entries), None)
            return None if key is None else self._entries.pop(key)

    def _fold(self, snapshot: Snapshot) -> None:
        """With the lock held."""
        old = self._entries.get(snapshot.key)
        self._entries[snapshot.key] = folded(old, snapshot) if old else snapshot
