"""What is remembered of a user, as the pipeline sees it: two ports, and the memory that remembers nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from skerry_runner.memory.snapshot import Snapshot, SnapshotKey

__all__ = ["MemoryKeeper", "MemorySource", "NoMemory"]


class MemorySource(Protocol):
    """Where memories are read from."""

    async def recall(self, *, thread: str, user: str, agent: str) -> str:
        """What is known, as text of whole lines; empty if nothing is.

        Must not block the event loop: work that takes CPU or a disk belongs in a thread. May raise anything: a run
        goes on without its memory.
        """
        ...


class MemoryKeeper(Protocol):
    """Where what was said goes to."""

    def key(self, *, thread: str, user: str, agent: str) -> SnapshotKey:
        """Under which key a conversation waits to become facts."""
        ...

    async def remember(self, snapshot: Snapshot) -> None:
        """Take a snapshot; returns soon, and raises nothing for a store's sake."""
        ...


class NoMemory:
    """Memory is off."""

    async def recall(self, *, thread: str, user: str, agent: str) -> str:  # noqa: ARG002 - the port's signature
        return ""
