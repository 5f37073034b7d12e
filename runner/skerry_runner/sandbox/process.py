"""A long-running command with an open standard input: what a stdio server needs of a sandbox."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from skerry_runner.sandbox.types import Chunk

__all__ = ["OnOutput", "Process"]

OnOutput = Callable[[Chunk], Awaitable[None]]
"""Takes output in order of arrival; while it waits, so does the process, as at a full pipe."""


class Process(Protocol):
    """Started by `Sandbox.start_process`. All methods raise SandboxError."""

    async def follow(self, on_output: OnOutput) -> str:
        """Hand over all output until the process has ended; returns how it ended, in words. Call it once.

        Nothing is dropped: output that can't be had any more is a SandboxProtocolError.
        """
        ...

    async def write(self, data: bytes) -> None:
        """Feed all of `data` to its standard input; returns when it is taken. Raises ProcessEnded."""
        ...

    async def end(self) -> None:
        """End it with all it started. Bounded and best effort; raises nothing. Idempotent."""
        ...
