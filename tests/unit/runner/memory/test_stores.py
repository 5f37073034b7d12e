"""The SQLite store: several processes at once, and what can't be opened."""

from __future__ import annotations

import asyncio
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from skerry_api.persistence import PersistenceType
from skerry_runner.memory.book import MemoryBook, Owner
from skerry_runner.memory.facts import Change
from skerry_runner.memory.stores import FILE, in_process, open_sqlite_store, store_at
from skerry_runner.persistence.errors import StateUnusable
from skerry_runner.persistence.opening import StatePlace
from skerry_testing.memories import an_older_epoch_takes_nothing_from_a_newer, fact, pending, snapshot

US = Owner("u@example.org", "lead")
WRITER = """
import asyncio, sys
from pathlib import Path
from skerry_runner.memory.book import MemoryBook, Owner
from skerry_runner.memory.facts import Change
from skerry_runner.memory.stores import open_sqlite_store
from skerry_runner.memory.facts import Category, Fact, fact_id
from datetime import UTC, datetime

def fact(text: str) -> Fact:
    now = datetime.now(UTC)
    return Fact(id=fact_id(text), content=text, category=Category.GOAL, confidence=0.9, run="r", time=now)

async def main() -> None:
    for n in range(10):
        async with open_sqlite_store(Path(sys.argv[1])) as store:
            book = MemoryBook(store, "ns")
            await book.apply(Owner("u", "lead"), Change(put=(fact(f"{sys.argv[2]} {n}"),)))
            await book.facts(Owner("u", "lead"))

asyncio.run(main())
"""


async def test_facts_and_snapshots_outlive_the_store(tmp_path: Path) -> None:
    async with open_sqlite_store(tmp_path) as store:
        book = MemoryBook(store, "ns")
        await book.apply(US, Change(put=(fact("Likes tea."),)))
        await book.keep(pending(snapshot(user=US.user)))
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    async with store_at(StatePlace(PersistenceType.VOLUME, tmp_path))() as store:
        book = MemoryBook(store, "ns")
        assert await book.facts(US) == [fact("Likes tea.")]
        assert len(await book.waiting(US)) == len(await book.waiting()) == 1
        assert await MemoryBook(store, "ns2").waiting() == []
        assert await book.forget(US) == (1, 1)
        assert await book.facts(US) == []


def test_processes_share_a_file_from_its_first_moment(tmp_path: Path) -> None:
    """Tables are made once, and no write is refused because another process is at it."""
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), name], stderr=subprocess.PIPE, text=True
        )
        for name in ("a", "b", "c")
    ]
    errors = [writer.communicate() for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0, 0], errors

    async def found() -> set[str]:
        async with open_sqlite_store(tmp_path) as store:
            return {each.content for each in await MemoryBook(store, "ns").facts(Owner("u", "lead"))}

    assert asyncio.run(found()) == {f"{name} {n}" for name in ("a", "b", "c") for n in range(10)}


async def test_a_file_that_is_no_database_is_refused_and_stays(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("dear diary " * 100)
    with pytest.raises(Exception, match="not a database"):
        async with open_sqlite_store(tmp_path):
            pass
    assert (tmp_path / FILE).read_text().startswith("dear diary")


async def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        async with open_sqlite_store(tmp_path / "none"):
            pass


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (StatePlace(PersistenceType.VOLUME), "no state directory"),
        (StatePlace(PersistenceType.POSTGRES), "SKERRY_POSTGRES_DSN is not set"),
        (StatePlace(PersistenceType.POSTGRES, dsn="mysql://x"), "neither a PostgreSQL URI"),
    ],
)
async def test_a_place_that_can_not_be_used(place: StatePlace, words: str) -> None:
    with pytest.raises(StateUnusable, match=words):
        async with store_at(place)():
            pass


async def test_without_a_place_memories_end_with_the_process() -> None:
    assert store_at(StatePlace()) is in_process
    async with in_process() as store:
        await MemoryBook(store, "ns").apply(US, Change(put=(fact("x"),)))
    async with in_process() as store:
        assert await MemoryBook(store, "ns").facts(US) == []


async def test_epochs_of_a_run_are_apart(tmp_path: Path) -> None:
    await an_older_epoch_takes_nothing_from_a_newer(lambda: open_sqlite_store(tmp_path))
