"""The file in the state directory: what it keeps, what it forgets, what becomes of a bad one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import empty_checkpoint

from skerry_api.persistence import PersistenceType
from skerry_api.phases import OutcomeClass
from skerry_runner.persistence.errors import StateUnusable
from skerry_runner.persistence.sqlite import FILE, PRUNE_EVERY, SqliteSaver, open_sqlite
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.statecases import place_in

ROOT: RunnableConfig = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


async def put(saver: SqliteSaver, values: dict[str, Any], after: RunnableConfig = ROOT) -> RunnableConfig:
    checkpoint = empty_checkpoint() | {"channel_values": values}
    where = await saver.aput(after, checkpoint, {}, {})
    await saver.aput_writes(where, [("messages", "w")], "task")
    return where


def rows(directory: Path, table: str) -> int:
    with closing(sqlite3.connect(directory / FILE)) as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


async def test_only_the_newest_checkpoints_of_a_thread_stay(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path) as saver:
        other: RunnableConfig = {"configurable": {"thread_id": "other", "checkpoint_ns": ""}}
        await put(saver, {"n": "of another thread"}, other)
        where = ROOT
        for number in range(5 * PRUNE_EVERY):
            where = await put(saver, {"n": number}, where)
            inner: RunnableConfig = {
                "configurable": {**where["configurable"], "checkpoint_ns": f"tools:{number}"}
            }
            await put(saver, {"inner": number}, inner)
        kept = await saver.aget_tuple(ROOT)
        assert kept is not None
        assert kept.checkpoint["channel_values"] == {"n": 5 * PRUNE_EVERY - 1}
        assert [write[1:] for write in kept.pending_writes or ()] == [("messages", "w")]
    assert rows(tmp_path, "checkpoints") <= 2 * PRUNE_EVERY + 1
    assert rows(tmp_path, "writes") <= 2 * PRUNE_EVERY + 1


async def test_a_history_of_thousands_takes_little_more_room_than_itself(tmp_path: Path) -> None:
    history: list[Any] = []
    for number in range(2000):
        history += [
            HumanMessage(f"question {number} " * 10, id=f"h{number}"),
            AIMessage("answer", id=f"a{number}"),
        ]
    async with open_sqlite(tmp_path) as saver:
        where = ROOT
        for _ in range(3 * PRUNE_EVERY):
            where = await put(saver, {"messages": history}, where)
        once = len(saver.serde.dumps_typed({"messages": history})[1])
        kept = await saver.aget_tuple(ROOT)
        assert kept is not None
        assert len(kept.checkpoint["channel_values"]["messages"]) == 4000
    assert (tmp_path / FILE).stat().st_size < (PRUNE_EVERY + 4) * once


async def test_the_file_is_for_its_owner_alone_and_for_one_process(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path):
        assert (tmp_path / FILE).stat().st_mode & 0o777 == 0o600
        with (
            closing(sqlite3.connect(tmp_path / FILE, timeout=0)) as second,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            second.execute("SELECT * FROM checkpoints").fetchall()


@pytest.mark.parametrize(
    "content", [b"this is no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4096]
)
async def test_a_file_that_is_no_database_is_a_clear_failure(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE).write_bytes(content)
    with pytest.raises(StateUnusable, match=r"checkpoints\.sqlite can't be used"):
        async with open_sqlite(tmp_path):
            pass
    assert (tmp_path / FILE).read_bytes() == content


async def test_a_directory_that_is_none_is_a_clear_failure(tmp_path: Path) -> None:
    with pytest.raises(StateUnusable, match="No such file or directory"):
        async with open_sqlite(tmp_path / "missing"):
            pass


async def test_a_full_disk_ends_the_run_in_the_databases_words(tmp_path: Path) -> None:
    async with open_sqlite(tmp_path) as saver:
        await saver.conn.execute("PRAGMA max_page_count = 1")
        with pytest.raises(StateUnusable, match="full") as caught:
            await put(saver, {"text": "x" * 1_000_000})
    assert caught.value.outcome.class_ is OutcomeClass.APP_ERROR


async def test_a_checkpoint_that_somebody_forged_ends_the_run(tmp_path: Path) -> None:
    place = place_in(PersistenceType.VOLUME, tmp_path)
    async with RunnerWorld() as world:
        await world.run(document("steps: [{say: one}]"), place=place)
    with closing(sqlite3.connect(tmp_path / FILE)) as connection:
        connection.execute("UPDATE checkpoints SET type = 'pickle'")
        connection.commit()
    async with RunnerWorld() as world:
        result = await world.run(document("steps: [{say: two}]", run="run-uid-2"), place=place)
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.APP_ERROR, "StateUnusable")
    assert result.outcome.message == "a checkpoint of kind 'pickle' is not read"
