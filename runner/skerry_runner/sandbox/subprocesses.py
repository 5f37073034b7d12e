"""Run a command on this very machine, bounded in time and output; for the Local provider."""

import asyncio
import contextlib
import os
import shlex
import signal
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from skerry_runner.sandbox.collector import Collector
from skerry_runner.sandbox.mounts import OutputTranslator
from skerry_runner.sandbox.pipes import PipeReader
from skerry_runner.sandbox.types import Chunk, ExecResult, Source

__all__ = ["MARK", "LocalCommand", "LocalRun", "end_tree"]

MARK: Final = "SANDBOX_COMMAND_ID"
"""A variable that finds a command's descendants again, wherever they went (where there is a /proc)."""
# One argument may have 128 KiB on Linux, all together less than that on some systems.
_MAX_ARGUMENT: Final = 64 * 1024
_SETTLE_SECONDS: Final = 0.1
_GRACE_SECONDS: Final = 1.0


@dataclass(frozen=True)
class LocalCommand:
    """`mark` is unique to this run of it; paths are real ones."""

    script: str
    cwd: Path
    env: Mapping[str, str]
    mark: str
    timeout_seconds: float


class LocalRun:
    """One command. `close` drops the pipes that something left in the background may still hold."""

    def __init__(
        self, command: LocalCommand, collector: Collector, translators: tuple[OutputTranslator, ...]
    ) -> None:
        self._command = command
        self._collector = collector
        self._translators = dict(zip((Source.STDOUT, Source.STDERR), translators, strict=True))
        self._readers: list[PipeReader] = []
        self._script: IO[str] | None = None

    async def run(self) -> ExecResult:
        """Run to the end. Raises OSError if it can't be started; when cancelled, the tree is ended first."""
        began = time.monotonic()
        process = await self._start()
        timed_out = False
        try:
            try:
                async with asyncio.timeout(self._command.timeout_seconds):
                    await process.wait()
            except TimeoutError:
                timed_out = True
                await end_tree(process, self._command.mark)
        except asyncio.CancelledError:
            await end_tree(process, self._command.mark)
            self.close()
            raise
        await self._settle()
        self._drop_script()
        code = process.returncode or 0
        return ExecResult(
            exit_code=code if code >= 0 else None,
            signal=signal.Signals(-code).name if code < 0 else None,
            chunks=self._collector.chunks(),
            duration_ms=int((time.monotonic() - began) * 1000),
            timed_out=timed_out,
        )

    @property
    def holds_pipes(self) -> bool:
        """Still running, or something in the background has its pipes."""
        return any(not reader.ended.is_set() for reader in self._readers)

    def close(self) -> None:
        for reader in self._readers:
            reader.close()
        self._drop_script()

    def _drop_script(self) -> None:
        if self._script is not None:
            self._script.close()
            self._script = None

    async def _start(self) -> asyncio.subprocess.Process:
        writers = [self._pipe(Source.STDOUT), self._pipe(Source.STDERR)]
        try:
            return await asyncio.create_subprocess_exec(
                *self._argv(),
                cwd=self._command.cwd,
                env={**self._command.env, MARK: self._command.mark},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=writers[0],
                stderr=writers[1],
                start_new_session=True,
            )
        except BaseException:
            self.close()
            raise
        finally:
            for fd in writers:
                os.close(fd)

    def _argv(self) -> tuple[str, ...]:
        script = self._command.script
        if len(script.encode("utf-8")) < _MAX_ARGUMENT:
            return ("bash", "-c", script)
        # An argument is limited; a file is not. It goes once it has been read, with `close`.
        self._script = tempfile.NamedTemporaryFile("w", encoding="utf-8", prefix="skerry-", suffix=".sh")  # noqa: SIM115  # lives as long as the command
        self._script.write(script)
        self._script.flush()
        return ("bash", "-c", f". {shlex.quote(self._script.name)}")

    def _pipe(self, source: Source) -> int:
        translator = self._translators[source]
        read, write = os.pipe()

        def sink(data: bytes) -> None:
            self._feed(source, translator.feed(data))

        self._readers.append(PipeReader(read, sink))
        return write

    def _feed(self, source: Source, data: bytes) -> None:
        if data:
            self._collector.feed(Chunk(source, data))

    async def _settle(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_SETTLE_SECONDS):
                for reader in self._readers:
                    await reader.ended.wait()
        for reader in self._readers:
            reader.release()
        for source, translator in self._translators.items():
            self._feed(source, translator.flush())


async def end_tree(process: asyncio.subprocess.Process, mark: str) -> None:
    """SIGTERM, then SIGKILL until nothing with the mark is left."""
    await asyncio.to_thread(_signal_tree, process.pid, mark, signal.SIGTERM)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_GRACE_SECONDS):
            await process.wait()
    for _ in range(20):
        if not await asyncio.to_thread(_signal_tree, process.pid, mark, signal.SIGKILL):
            break
    await process.wait()


def _signal_tree(pid: int, mark: str, number: int) -> int:
    """Signal the process group and everything with the mark; returns how many marked ones there were."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
    return sum(_send(each, mark, number) for each in _pids())


def _pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*")]


def _send(pid: int, mark: str, number: int) -> bool:
    """Signal the process if it carries the mark; the descriptor pins it, so that a reused pid is never hit."""
    wanted = f"{MARK}={mark}".encode()
    try:
        pidfd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if wanted not in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            return False
        signal.pidfd_send_signal(pidfd, number)
    except OSError:
        return False
    finally:
        os.close(pidfd)
    return True
