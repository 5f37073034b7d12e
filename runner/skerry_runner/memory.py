"""What is remembered of a user, as the pipeline sees it: a port, and the memory that remembers nothing."""

from __future__ import annotations

from typing import Protocol

__all__ = ["MemorySource", "NoMemory"]


class MemorySource(Protocol):
    """Where memories are read from."""

    async def recall(self, *, thread: str, user: str, agent: str) -> str:
        """What is known, as text of whole lines; empty if nothing is.

        Must not block the event loop: work that takes CPU or a disk belongs in a thread. May raise anything: a run
        goes on without its memory.
        """
        ...


class NoMemory:
    """Memory is off."""

    async def recall(self, *, thread: str, user: str, agent: str) -> str:  # noqa: ARG002 - the port's signature
        return ""
