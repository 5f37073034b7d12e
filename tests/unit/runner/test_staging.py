"""Files that wait for a sandbox."""

from __future__ import annotations

import asyncio

import pytest
from typing_extensions import override

from skerry_api.phases import OutcomeClass
from skerry_runner.outcome import RunEnded
from skerry_runner.sandbox.errors import (
    NoSpace,
    SandboxError,
    SandboxFenced,
    SandboxLost,
    SandboxProtocolError,
    SandboxReplaced,
    SandboxUnavailable,
)
from skerry_runner.session import SandboxSession
from skerry_runner.staging import Staging, StagingFull
from skerry_testing.fakesandbox import FakeSandbox
from skerry_testing.runnerworld import RunnerWorld

A, B = "/mnt/user-data/uploads/a", "/mnt/user-data/uploads/b"


@pytest.fixture
def session(world: RunnerWorld) -> SandboxSession:
    return SandboxSession(world.provider, world.reporter, world.journal)


class Failing(FakeSandbox):
    """Raises what it is given, one for each write, until there is no more."""

    failures: list[Exception]

    @override
    async def write_file(self, path: str, data: bytes, *, append: bool = False) -> int:
        await asyncio.sleep(0)
        if self.failures:
            raise self.failures.pop(0)
        return await super().write_file(path, data, append=append)


async def staged(world: RunnerWorld) -> list[tuple[str, str]]:
    await world.journal.flush()
    return [(e["path"], e["status"]) for e in world.sink.events("file.staged")]


async def test_whoever_acquires_first_finds_the_files(world: RunnerWorld, session: SandboxSession) -> None:
    session.staging.add(A, b"one")
    assert world.provider.acquired == 0
    got = await asyncio.gather(*(session.acquire() for _ in range(3)))
    assert [sandbox.files for sandbox in got] == [{A: b"one"}] * 3  # type: ignore[attr-defined]  # the fake's
    assert await staged(world) == [(A, "pushed")]


async def test_what_the_runner_installs_is_there_first_and_in_every_sandbox(
    world: RunnerWorld, session: SandboxSession
) -> None:
    session.staging.install("/mnt/skills", {"pdf/SKILL.md": b"x"})
    session.staging.add(A, b"one", keep=True)
    sandbox = await session.acquire()
    assert sandbox.files == {"/mnt/skills/pdf/SKILL.md": b"x", A: b"one"}  # type: ignore[attr-defined]  # the fake's
    assert await staged(world) == [("/mnt/skills", "pushed"), (A, "pushed")]
    world.provider.sandbox.files["/mnt/skills/pdf/SKILL.md"] = b"tampered with"
    session.replaced("another one")
    await session.acquire()
    assert world.provider.sandbox.files["/mnt/skills/pdf/SKILL.md"] == b"x"


async def test_what_is_staged_later_comes_with_the_next_acquire(
    world: RunnerWorld, session: SandboxSession
) -> None:
    await session.acquire()
    session.staging.add(A, b"one")
    await session.acquire()
    assert world.provider.sandbox.files == {A: b"one"}
    assert (world.provider.acquired, await staged(world)) == (1, [(A, "pushed")])


async def test_a_file_that_is_there_is_left_alone_if_so_wished(
    world: RunnerWorld, session: SandboxSession
) -> None:
    world.provider.sandbox.files[A] = b"worked on"
    session.staging.add(A, b"one", only_missing=True)
    session.staging.add(B, b"two", only_missing=True)
    await session.acquire()
    assert world.provider.sandbox.files == {A: b"worked on", B: b"two"}
    assert await staged(world) == [(A, "kept"), (B, "pushed")]


async def test_a_replaced_sandbox_gets_again_what_is_kept(
    world: RunnerWorld, session: SandboxSession
) -> None:
    session.staging.add(A, b"one", keep=True)
    session.staging.add(B, b"two")
    await session.acquire()
    world.provider.sandbox.files.clear()
    session.replaced("gone")
    await session.acquire()
    assert world.provider.sandbox.files == {A: b"one"}


async def test_what_survived_a_replacement_is_left_alone(world: RunnerWorld, session: SandboxSession) -> None:
    session.staging.add(A, b"one", keep=True)
    await session.acquire()
    world.provider.sandbox.files[A] = b"worked on"
    session.replaced("gone")
    await session.acquire()
    assert world.provider.sandbox.files == {A: b"worked on"}


async def test_a_file_that_can_not_be_written_does_not_hold_up_the_others(
    world: RunnerWorld, session: SandboxSession
) -> None:
    sandbox = Failing()
    sandbox.failures = [NoSpace(A, f"{A}: No space left on device")]
    world.provider.sandbox = sandbox
    session.staging.add(A, b"one", keep=True)
    session.staging.add(B, b"two", keep=True)
    assert await session.acquire() is sandbox
    assert sandbox.files == {B: b"two"}
    assert await staged(world) == [(A, "failed"), (B, "pushed")]


@pytest.mark.parametrize("error", [SandboxUnavailable("silent"), SandboxReplaced(may_have_run=False)])
async def test_a_silent_sandbox_gets_the_rest_later_and_is_let_go_of(
    world: RunnerWorld, session: SandboxSession, error: Exception
) -> None:
    sandbox = Failing()
    sandbox.failures = [error]
    world.provider.sandbox = sandbox
    async with session.hold():
        session.staging.add(A, b"one")
        session.staging.add(B, b"two")
        with pytest.raises(type(error)):
            await session.acquire()
        assert await session.acquire() is sandbox
        assert sandbox.files == {A: b"one", B: b"two"}
    assert (world.provider.acquired, world.provider.released) == (1, 1)


async def test_a_push_that_is_cancelled_is_done_by_the_next(
    world: RunnerWorld, session: SandboxSession
) -> None:
    sandbox = Failing()
    sandbox.failures = []
    world.provider.sandbox = sandbox
    session.staging.add(A, b"one")
    first = asyncio.create_task(session.acquire())
    for _ in range(2):
        await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait({first})
    assert await session.acquire() is sandbox
    assert sandbox.files == {A: b"one"}


def test_memory_is_bounded_and_a_new_content_takes_the_old_one_s_place(world: RunnerWorld) -> None:
    staging = Staging(world.journal, most=10)
    staging.add(A, b"x" * 8)
    staging.add(A, b"x" * 10)
    with pytest.raises(StagingFull):
        staging.add(B, b"y")
    assert staging.pending


async def test_put_file_uses_what_is_at_hand(world: RunnerWorld, session: SandboxSession) -> None:
    await session.put_file(A, b"waits")
    assert (world.provider.acquired, session.staging.pending) == (0, True)
    disk = world.provider.thread_files = FakeSandbox()
    await session.put_file(B, b"on disk")
    assert disk.files == {B: b"on disk"}
    await session.acquire()
    await session.put_file(B, b"inside")
    assert world.provider.sandbox.files == {A: b"waits", B: b"inside"}


async def test_a_write_that_is_not_what_it_says_is_an_error(
    world: RunnerWorld, session: SandboxSession
) -> None:
    class Lying(FakeSandbox):
        @override
        async def write_file(self, path: str, data: bytes, *, append: bool = False) -> int:
            self.files[path] = b""
            return len(data)

    world.provider.sandbox = Lying()
    await session.acquire()
    with pytest.raises(SandboxProtocolError, match="has 0 bytes after 3 were written"):
        await session.put_file(A, b"one")


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (SandboxLost("gone"), OutcomeClass.SANDBOX_LOST),
        (SandboxFenced("StaleEpoch", "newer"), OutcomeClass.INTERRUPTED),
    ],
)
async def test_a_sandbox_that_is_not_ours_any_more_ends_the_run(
    session: SandboxSession, error: SandboxError, outcome: OutcomeClass
) -> None:
    with pytest.raises(RunEnded) as caught:
        session.note(error)
    assert caught.value.outcome.class_ is outcome


async def test_other_errors_are_the_row_s_own_business(world: RunnerWorld, session: SandboxSession) -> None:
    session.note(SandboxUnavailable("silent"))
    session.note(SandboxReplaced(may_have_run=True))
    await world.journal.flush()
    assert [event["type"] for event in world.sink.events()] == ["sandbox.replaced"]


async def test_a_path_has_one_lock_for_as_long_as_somebody_holds_it(session: SandboxSession) -> None:
    first = session.path_lock(A)
    assert session.path_lock(A) is first
    assert session.path_lock(B) is not first
