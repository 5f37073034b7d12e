"""Files that no sandbox has had yet: kept on a state volume. Postgres has its own test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from skerry_api.persistence import PersistenceType
from skerry_runner.checkpoint import memory_saver
from skerry_runner.files import GivenFile
from skerry_runner.paths import OUTPUTS, UPLOADS
from skerry_runner.persistence.opening import KeptState
from skerry_runner.provisions import provide
from skerry_runner.session import SandboxSession
from skerry_runner.waiting import WaitingDirectory
from skerry_testing.fakesandbox import FakeSandbox
from skerry_testing.resumecases import Keeping
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.statecases import place_in
from skerry_testing.waitingcases import WAITING_CASES

LONG = f"{OUTPUTS}/.tool-results/web-1.txt"


@pytest.mark.parametrize("case", WAITING_CASES, ids=lambda case: case.__name__)
async def test_on_a_volume(case: Callable[[Keeping], Awaitable[None]], tmp_path: Path) -> None:
    await case({"place": place_in(PersistenceType.VOLUME, tmp_path)})
    assert [each.name for each in (tmp_path / "waiting").iterdir()] == []


async def begun(world: RunnerWorld, folder: Path, *files: GivenFile) -> SandboxSession:
    """As at the start of an epoch."""
    session = SandboxSession(world.provider, world.reporter, world.journal)
    kept = KeptState(memory_saver(), WaitingDirectory(folder))
    await provide(session, document(), kept, files=files, skills=())
    return session


async def test_a_long_result_without_a_sandbox_is_there_in_the_next_one(
    world: RunnerWorld, tmp_path: Path
) -> None:
    session = await begun(world, tmp_path)
    await session.put_file(LONG, b"all of it")
    assert world.provider.acquired == 0
    session = await begun(world, tmp_path)
    await session.acquire()
    assert world.provider.sandbox.files == {LONG: b"all of it"}
    world.provider.sandbox = FakeSandbox()
    await (await begun(world, tmp_path)).acquire()
    assert world.provider.sandbox.files == {}


async def test_where_the_thread_s_files_are_at_hand_they_are_written_at_once(
    world: RunnerWorld, tmp_path: Path
) -> None:
    disk = world.provider.thread_files = FakeSandbox()
    session = await begun(world, tmp_path, GivenFile("a", b"given"))
    assert disk.files == {f"{UPLOADS}/a": b"given"}
    assert (world.provider.acquired, session.staging.pending) == (0, False)
    assert await WaitingDirectory(tmp_path).load() == {}


async def test_what_is_kept_is_bounded(tmp_path: Path) -> None:
    kept = WaitingDirectory(tmp_path, most=100)
    await kept.put("/a", b"x" * 60)
    await kept.put("/b", b"y" * 60)
    assert dict(await kept.load()) == {"/a": b"x" * 60}
    await kept.put("/a", b"z" * 100)
    assert dict(await kept.load()) == {"/a": b"z" * 100}


async def test_what_is_no_file_of_ours_costs_nothing_but_itself(tmp_path: Path) -> None:
    kept = WaitingDirectory(tmp_path)
    await kept.put("/a\udcff", b"\0\n{}")
    (tmp_path / "junk").write_bytes(b"\xff")
    (tmp_path / "half.part").write_bytes(b"{")
    assert dict(await kept.load()) == {"/a\udcff": b"\0\n{}"}
    await kept.drop("/a\udcff")
    await kept.drop("/never")
    assert dict(await kept.load()) == {}


async def test_a_place_that_can_not_be_written_costs_the_copy_alone(
    world: RunnerWorld, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    session = await begun(world, tmp_path / "file", GivenFile("a", b"given"))
    await session.acquire()
    assert world.provider.sandbox.files == {f"{UPLOADS}/a": b"given"}
