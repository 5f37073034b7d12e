"""The remote sandbox against a real sandboxd, where the way between them or one of them misbehaves."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Self

import pytest

from skerry_api.grants import Confirmation
from skerry_runner.sandbox import errors
from skerry_runner.sandbox.access import Access, FixedAccess
from skerry_runner.sandbox.backoff import Timing
from skerry_runner.sandbox.remote import RemoteSandbox
from skerry_runner.sandbox.types import Chunk
from skerry_testing.conformance import alive
from skerry_testing.eventually import eventually
from skerry_testing.sandboxd import Identity, Sandboxd, running_sandboxd


class Cuttable:
    """A TCP relay whose connections a test may cut."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._writers: list[asyncio.StreamWriter] = []
        self._server: asyncio.Server | None = None
        self.connections = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._relay, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.cut()

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        there, back = await asyncio.open_connection("127.0.0.1", self._target)
        self._writers += [writer, back]
        await asyncio.gather(_copy(reader, back), _copy(there, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


@pytest.fixture
async def sandboxd(tmp_path: Path) -> AsyncIterator[Sandboxd]:
    async with running_sandboxd(tmp_path / "pod") as started:
        yield started


@contextlib.asynccontextmanager
async def client(
    sandboxd: Sandboxd, access: Access | None = None, timing: Timing | None = None
) -> AsyncIterator[RemoteSandbox]:
    provider = FixedAccess(access or sandboxd.access())
    sandbox = RemoteSandbox("sbx-test", provider, sandboxd.identity.runner, timing=timing)
    try:
        yield sandbox
    finally:
        await sandbox.close()


async def test_cut_again_and_again_nothing_is_lost_or_doubled(sandboxd: Sandboxd) -> None:
    async with Cuttable(sandboxd.port) as relay:
        access = replace(sandboxd.access(), endpoint=f"http://127.0.0.1:{relay.port}")
        async with client(sandboxd, access) as sandbox:
            seen: list[Chunk] = []

            def on_output(chunk: Chunk) -> None:
                seen.append(chunk)
                if len(seen) % 4 == 0 and relay.connections < 6:
                    relay.cut()

            command = "echo run >> count; for i in $(seq 100); do echo $i; sleep 0.01; done"
            result = await sandbox.execute(command, key="a", on_output=on_output)
    expected = b"".join(b"%d\n" % n for n in range(1, 101))
    assert result.stdout == expected
    assert b"".join(chunk.data for chunk in seen) == expected
    assert (sandboxd.workspace / "count").read_text() == "run\n"
    assert relay.connections >= 6


async def test_a_restart_in_mid_command_is_told_as_lost(tmp_path: Path) -> None:
    identity = Identity()
    async with contextlib.AsyncExitStack() as stack:
        first = await stack.enter_async_context(running_sandboxd(tmp_path, identity))
        sandbox = await stack.enter_async_context(client(first))
        task = asyncio.create_task(sandbox.execute("touch up; sleep 600", key="a"))
        await eventually((first.workspace / "up").exists)
        first.process.kill()
        await first.process.wait()
        # The container comes back at its address, in the same Pod.
        async with running_sandboxd(tmp_path, identity, port=first.port):
            with pytest.raises(errors.CommandLost):
                await task


async def test_another_pod_at_the_old_address(tmp_path: Path) -> None:
    identity = Identity()
    async with contextlib.AsyncExitStack() as stack:
        first = await stack.enter_async_context(running_sandboxd(tmp_path / "one", identity))
        sandbox = await stack.enter_async_context(client(first))
        task = asyncio.create_task(sandbox.execute("touch up; sleep 600", key="a"))
        await eventually((first.workspace / "up").exists)
        first.process.kill()
        await first.process.wait()
        second = await stack.enter_async_context(
            running_sandboxd(tmp_path / "two", replace(identity, pod_uid="pod-uid-2"), port=first.port)
        )
        with pytest.raises(errors.SandboxReplaced) as caught:
            await task
        assert caught.value.may_have_run
        assert not (second.workspace / "up").exists()


async def test_no_answer_at_all(sandboxd: Sandboxd) -> None:
    access = replace(sandboxd.access(), endpoint="http://127.0.0.1:1")
    async with client(sandboxd, access, Timing(unavailable_after=0.5)) as sandbox:
        with pytest.raises(errors.SandboxUnavailable):
            await sandbox.execute("true", key="a")


async def test_a_sandboxd_that_keeps_no_timeout(sandboxd: Sandboxd) -> None:
    async with client(sandboxd, timing=Timing(command_slack=-1.5)) as sandbox:
        # Our own limit comes first here: 0.5 s against sandboxd's 2 s.
        with pytest.raises(errors.CommandTimeout) as caught:
            await sandbox.execute("echo begun; echo $$ > pid; sleep 600", key="a", timeout_seconds=2)
        assert b"".join(chunk.data for chunk in caught.value.chunks) in {b"begun\n", b""}
    pid = sandboxd.workspace / "pid"
    assert not pid.exists() or not alive(int(pid.read_text()))


async def test_the_key_must_be_the_grants(sandboxd: Sandboxd) -> None:
    access = sandboxd.access(cnf=Confirmation(jkt=sandboxd.identity.operator.public.thumbprint))
    async with client(sandboxd, access) as sandbox:
        with pytest.raises(errors.SandboxRefused) as caught:
            await sandbox.stat(str(sandboxd.workspace))
    assert caught.value.reason == "ProofInvalid"


async def test_an_old_epoch_is_fenced(sandboxd: Sandboxd) -> None:
    async with (
        client(sandboxd, sandboxd.access(epoch=2)) as later,
        client(sandboxd, sandboxd.access(epoch=1)) as old,
    ):
        await later.stat(str(sandboxd.workspace))
        with pytest.raises(errors.SandboxFenced):
            await old.execute("touch fenced", key="a")
    assert not (sandboxd.workspace / "fenced").exists()


async def test_big_files_both_ways(sandboxd: Sandboxd) -> None:
    data = bytes(range(256)) * 40_000
    async with client(sandboxd) as sandbox:
        path = f"{sandboxd.workspace}/big"
        assert await sandbox.write_file(path, data) == len(data)
        assert await sandbox.read_file(path) == data
        (sandboxd.workspace / "huge").touch()
        with (sandboxd.workspace / "huge").open("r+b") as file:
            file.truncate(65 * 1024 * 1024)
        with pytest.raises(errors.FileTooLarge):
            await sandbox.read_file(f"{sandboxd.workspace}/huge")
        assert len(await sandbox.read_file(f"{sandboxd.workspace}/huge", limit=10)) == 10
