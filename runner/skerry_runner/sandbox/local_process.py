"""A process on this very machine, for the Local provider."""

import asyncio
import contextlib
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from typing_extensions import override

from skerry_runner.sandbox.errors import ProcessEnded, SandboxUnavailable
from skerry_runner.sandbox.mounts import OutputTranslator
from skerry_runner.sandbox.process import OnOutput, Process
from skerry_runner.sandbox.subprocesses import MARK, end_tree
from skerry_runner.sandbox.types import Chunk, Source

__all__ = ["LocalProcess"]

_CHUNK: Final = 64 * 1024


class LocalProcess(Process):
    """Paths are translated both ways, as in commands: `to_real` for its input, a translator for its output."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        mark: str,
        to_real: Callable[[str], str],
        translator: Callable[[], OutputTranslator],
    ) -> None:
        self._process = process
        self._mark = mark
        self._to_real = to_real
        self._translator = translator

    @classmethod
    async def start(
        cls,
        script: str,
        *,
        cwd: Path,
        env: Mapping[str, str],
        mark: str,
        to_real: Callable[[str], str],
        translator: Callable[[], OutputTranslator],
    ) -> "LocalProcess":
        """Start it. Raises SandboxUnavailable."""
        pipe = asyncio.subprocess.PIPE
        try:
            process = await asyncio.create_subprocess_exec(
                "bash", "-c", to_real(script),
                cwd=cwd, env={**env, MARK: mark}, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise SandboxUnavailable(f"The process can't be started: {error.strerror}") from error
        return cls(process, mark, to_real, translator)

    @override
    async def follow(self, on_output: OnOutput) -> str:
        process = self._process
        assert process.stdout is not None and process.stderr is not None  # noqa: S101, PT018 - made with pipes
        async with asyncio.TaskGroup() as pumps:
            pumps.create_task(self._pump(process.stdout, Source.STDOUT, on_output))
            pumps.create_task(self._pump(process.stderr, Source.STDERR, on_output))
        code = await process.wait()
        return f"exit code {code}" if code >= 0 else f"signal {signal.Signals(-code).name}"

    async def _pump(self, stream: asyncio.StreamReader, source: Source, on_output: OnOutput) -> None:
        translator = self._translator()
        while data := await stream.read(_CHUNK):
            if shown := translator.feed(data):
                await on_output(Chunk(source, shown))
        if rest := translator.flush():
            await on_output(Chunk(source, rest))

    @override
    async def write(self, data: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 - made with pipes
        real = self._to_real(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        try:
            stdin.write(real)
            await stdin.drain()
        except (ConnectionError, RuntimeError) as error:
            raise ProcessEnded("the process closed its standard input") from error

    @override
    async def end(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None  # noqa: S101 - made with pipes
        stdin.close()
        await end_tree(self._process, self._mark)
        with contextlib.suppress(ConnectionError):
            await stdin.wait_closed()
