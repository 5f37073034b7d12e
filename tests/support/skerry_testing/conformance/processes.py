"""Long-running processes: both streams, standard input, names, and their end."""

from __future__ import annotations

import asyncio

import pytest

from skerry_runner.sandbox.errors import InvalidCall, ProcessEnded, SandboxError
from skerry_runner.sandbox.process import Process
from skerry_runner.sandbox.types import Chunk, Source
from skerry_testing.conformance.harness import Harness, alive, pids
from skerry_testing.eventually import eventually

__all__ = ["ProcessConformance"]


class _Heard:
    """Follows a process and keeps what it says."""

    def __init__(self, process: Process) -> None:
        self.said: dict[Source, bytes] = {Source.STDOUT: b"", Source.STDERR: b""}
        self._news = asyncio.Event()
        self.end = asyncio.create_task(process.follow(self._take))

    async def _take(self, chunk: Chunk) -> None:
        self.said[chunk.source] += chunk.data
        self._news.set()

    async def until(self, text: bytes, source: Source = Source.STDOUT) -> None:
        async with asyncio.timeout(60):
            while text not in self.said[source]:
                await self._news.wait()
                self._news.clear()


async def _write_on(process: Process) -> None:
    while True:
        await process.write(b"hello\n" * 10_000)


class ProcessConformance:
    async def test_it_answers_what_it_is_told(self, harness: Harness) -> None:
        process = await harness.sandbox.start_process(
            harness.key("p"), 'while read -r line; do echo "<$line> $WORD"; done', env={"WORD": "yes"}
        )
        heard = _Heard(process)
        for line in (b"one\n", b"two\n"):
            await process.write(line)
            await heard.until(b"<" + line.strip() + b"> yes\n")
        await process.end()
        assert heard.said == {Source.STDOUT: b"<one> yes\n<two> yes\n", Source.STDERR: b""}
        assert await heard.end

    async def test_both_streams_and_the_exit_code(self, harness: Harness) -> None:
        process = await harness.sandbox.start_process(harness.key("p"), "echo out; echo err >&2; exit 7")
        heard = _Heard(process)
        assert await heard.end == "exit code 7"
        assert heard.said == {Source.STDOUT: b"out\n", Source.STDERR: b"err\n"}

    async def test_it_starts_where_it_is_told(self, harness: Harness) -> None:
        process = await harness.sandbox.start_process(
            harness.key("p"), "pwd > here; pwd", cwd=harness.workspace
        )
        heard = _Heard(process)
        assert await heard.end == "exit code 0"
        assert (harness.real / "here").exists()
        assert heard.said[Source.STDOUT] == harness.workspace.encode() + b"\n"

    async def test_much_goes_through_both_ways_and_nothing_is_lost(self, harness: Harness) -> None:
        process = await harness.sandbox.start_process(harness.key("p"), "exec cat")
        heard = _Heard(process)
        lines = b"".join(b"%08d %s\n" % (number, b"x" * 100) for number in range(30_000))
        await process.write(lines + b"the end\n")
        await heard.until(b"the end\n")
        assert heard.said[Source.STDOUT] == lines + b"the end\n"
        await process.end()
        await heard.end

    async def test_writing_to_what_has_ended(self, harness: Harness) -> None:
        process = await harness.sandbox.start_process(harness.key("p"), "exit 0")
        await _Heard(process).end
        with pytest.raises(ProcessEnded):
            # More than one write: the first bytes may still go into a pipe that nobody will read.
            await asyncio.wait_for(_write_on(process), 60)

    async def test_the_end_is_that_of_its_whole_tree(self, harness: Harness) -> None:
        process = await harness.sandbox.start_process(
            harness.key("p"), "sleep 600 & echo $! >> pids; echo $$ >> pids; echo begun; wait"
        )
        heard = _Heard(process)
        await heard.until(b"begun\n")
        found = pids(harness.real / "pids")
        assert len(found) == 2
        await process.end()
        await eventually(lambda: not any(alive(pid) for pid in found))
        await heard.end
        await process.end()

    async def test_a_name_has_one_process(self, harness: Harness) -> None:
        started: list[int] = []
        processes: list[Process] = []
        for number in range(3):
            process = await harness.sandbox.start_process(
                harness.key("p"), f"echo $$ > pid{number}; echo begun; exec sleep 600"
            )
            await _Heard(process).until(b"begun\n")
            (pid,) = pids(harness.real / f"pid{number}")
            started.append(pid)
            processes.append(process)
        await eventually(lambda: [alive(pid) for pid in started] == [False, False, True])
        await processes[-1].end()
        await eventually(lambda: not alive(started[-1]))

    async def test_what_can_not_be_started_is_told(self, harness: Harness) -> None:
        with pytest.raises(InvalidCall):
            await harness.sandbox.start_process(harness.key("p"), "a\0b")
        with pytest.raises(SandboxError):
            await harness.sandbox.start_process(harness.key("p"), "true", cwd=harness.workspace + "/none")
