"""What is remembered of a user beyond a thread: facts, the conversations that wait to become some, and their places."""

from __future__ import annotations

from skerry_runner.memory.source import MemoryKeeper, MemorySource, NoMemory

__all__ = ["MemoryKeeper", "MemorySource", "NoMemory"]
