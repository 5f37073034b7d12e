"""A process in memory: the second implementation of the runner's Process, for tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from skerry_runner.sandbox.errors import ProcessEnded
from skerry_runner.sandbox.process import OnOutput
from skerry_runner.sandbox.types import Chunk, Source

__all__ = ["FakeProcess", "Program", "cat"]

Program = Callable[["FakeProcess"], Awaitable[str]]
"""Reads `process.stdin`, calls `process.say`; returns how it ended."""


@dataclass
class FakeProcess:
    """Runs a function as the program. `stdin` gives None at its end."""

    name: str
    command: str
    env: dict[str, str]
    program: Program
    stdin: asyncio.Queue[bytes | None] = field(default_factory=asyncio.Queue)
    ended: bool = False
    _output: asyncio.Queue[Chunk | None] = field(default_factory=asyncio.Queue)
    _task: asyncio.Task[str] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> str:
        try:
            return await self.program(self)
        finally:
            self.ended = True
            self._output.put_nowait(None)

    def say(self, data: bytes, source: Source = Source.STDOUT) -> None:
        self._output.put_nowait(Chunk(source, data))

    async def follow(self, on_output: OnOutput) -> str:
        while (chunk := await self._output.get()) is not None:
            await on_output(chunk)
        assert self._task is not None
        await asyncio.wait({self._task})
        return "signal SIGTERM" if self._task.cancelled() else self._task.result()

    async def write(self, data: bytes) -> None:
        if self.ended:
            raise ProcessEnded("the process has ended")
        self.stdin.put_nowait(data)

    async def end(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})
        self.ended = True


async def cat(process: FakeProcess) -> str:
    """The program of a test that cares for none: says what it hears."""
    while (data := await process.stdin.get()) is not None:
        process.say(data)
    return "exit code 0"
