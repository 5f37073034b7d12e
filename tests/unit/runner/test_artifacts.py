"""What becomes of presented files: hashes, copies, bounds, a disk that does not take them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from skerry_runner.artifacts import FILE_MAX, ArtifactDirectory, HashedOnly, Taken, keeper_of, take


async def chunks(*given: bytes) -> AsyncIterator[bytes]:
    for chunk in given:
        yield chunk


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def left_in(folder: Path) -> list[int]:
    return [each.stat().st_size for each in folder.iterdir()]


async def test_a_copy_is_kept_under_its_hash_once(tmp_path: Path) -> None:
    keeper = ArtifactDirectory(tmp_path / "run")
    for _ in range(2):
        taken = await take(keeper, chunks(b"one ", b"two"), 7)
        assert taken == Taken(7, digest(b"one two"), kept=True)
    [kept] = (tmp_path / "run").iterdir()
    assert (kept.name, kept.read_bytes()) == (digest(b"one two"), b"one two")


async def test_an_empty_file_is_a_file(tmp_path: Path) -> None:
    taken = await take(ArtifactDirectory(tmp_path), chunks(), 0)
    assert taken == Taken(0, digest(b""), kept=True)


async def test_where_nothing_can_be_kept_the_hash_still_is() -> None:
    assert await take(HashedOnly(), chunks(b"x"), 1) == Taken(1, digest(b"x"), kept=False)
    assert isinstance(keeper_of(None, "run"), HashedOnly)


async def test_a_file_that_is_too_large_is_named_and_not_read(tmp_path: Path) -> None:
    async def never() -> AsyncIterator[bytes]:
        pytest.fail("it was read")
        yield b""

    assert await take(ArtifactDirectory(tmp_path), never(), FILE_MAX + 1) == Taken(
        FILE_MAX + 1, None, kept=False
    )


async def test_a_file_that_grows_while_it_is_read_leaves_nothing_behind(tmp_path: Path) -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x" * 1024 * 1024

    taken = await take(ArtifactDirectory(tmp_path), endless(), 10)
    assert (taken.sha256, taken.kept, taken.size > FILE_MAX) == (None, False, True)
    assert left_in(tmp_path) == []


async def test_a_run_keeps_no_more_than_its_share(tmp_path: Path) -> None:
    keeper = ArtifactDirectory(tmp_path, most=10)
    assert (await take(keeper, chunks(b"a" * 8), 8)).kept
    refused = await take(keeper, chunks(b"b" * 3), 3)
    assert refused == Taken(3, digest(b"bbb"), kept=False)
    assert (await take(keeper, chunks(b"c" * 2), 2)).kept
    assert sorted(left_in(tmp_path)) == [2, 8]


async def test_a_folder_that_cannot_be_made_costs_the_copy_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    taken = await take(keeper_of(tmp_path / "file", "run"), chunks(b"x"), 1)
    assert taken == Taken(1, digest(b"x"), kept=False)


async def test_a_read_that_fails_or_is_cancelled_leaves_nothing_behind(tmp_path: Path) -> None:
    reached = asyncio.Event()

    async def stuck() -> AsyncIterator[bytes]:
        yield b"x"
        reached.set()
        await asyncio.Event().wait()

    taking = asyncio.create_task(take(ArtifactDirectory(tmp_path), stuck(), 9))
    await reached.wait()
    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await taking
    assert left_in(tmp_path) == []


async def test_files_at_the_same_time(tmp_path: Path) -> None:
    keeper = ArtifactDirectory(tmp_path)
    takes = await asyncio.gather(*(take(keeper, chunks(b"%d" % (number % 5)), 1) for number in range(40)))
    assert all(taken.kept for taken in takes)
    assert len(left_in(tmp_path)) == 5
