"""Checkpoints in a real Postgres: resume, fence, loss of the database, and what it says of itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import psycopg
import pytest
from langgraph.checkpoint.base import empty_checkpoint

from skerry_api.persistence import PersistenceType
from skerry_api.phases import OutcomeClass
from skerry_runner.persistence.claim import Claim
from skerry_runner.persistence.errors import StateFenced, StateLost, StateUnusable
from skerry_runner.persistence.opening import StatePlace, open_state
from skerry_runner.persistence.patience import Patience
from skerry_runner.persistence.postgres import PRUNE_EVERY, PostgresSaver, open_postgres
from skerry_runner.sandbox.types import ExecResult
from skerry_testing.fakesandbox import Command, printed
from skerry_testing.postgres import PASSWORD, Postgres, postgres_server
from skerry_testing.resumecases import RESUME_CASES, Keeping
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.subagentcases import SUBAGENT_CASES
from skerry_testing.waitingcases import WAITING_CASES

SHORT = Patience(in_all=1.5, attempt=1, first=0.01, most=0.05)
LONG = Patience(in_all=60, attempt=20, first=0.01, most=0.2)
ROOT: Any = {"configurable": {"thread_id": "t", "checkpoint_ns": ""}}


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres_server() as running:
        yield running


@pytest.fixture
def dsn(server: Postgres) -> str:
    return server.database()


@pytest.fixture
def place(dsn: str) -> StatePlace:
    return StatePlace(PersistenceType.POSTGRES, dsn=dsn, patience=LONG)


def claim(run: str = "r", epoch: int = 1) -> Claim:
    return Claim("t", run, epoch)


async def put(saver: PostgresSaver, values: dict[str, Any], after: Any = ROOT) -> Any:
    checkpoint = empty_checkpoint()
    checkpoint["channel_values"], checkpoint["channel_versions"] = (
        values,
        dict.fromkeys(values, checkpoint["id"]),
    )
    where = await saver.aput(after, checkpoint, {}, dict.fromkeys(values, checkpoint["id"]))
    await saver.aput_writes(where, [("messages", "w")], "task")
    return where


def rows(dsn: str, table: str) -> int:
    with psycopg.connect(dsn) as connection:
        found = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
    assert found is not None
    return int(found[0])


@pytest.mark.parametrize(
    "case", [*RESUME_CASES, *SUBAGENT_CASES, *WAITING_CASES], ids=lambda case: case.__name__
)
async def test_resume(case: Callable[[Keeping], Awaitable[None]], place: StatePlace) -> None:
    await case({"place": place})


async def test_many_runners_may_find_no_tables_at_once(dsn: str) -> None:
    async def one(number: int) -> None:
        async with open_postgres(dsn, Claim(f"t{number}", f"r{number}", 1), LONG) as saver:
            await put(saver, {"n": [number]})

    await asyncio.gather(*(one(number) for number in range(8)))
    assert rows(dsn, "skerry_epochs") == 8


async def test_an_older_epoch_is_refused_when_it_opens_and_when_it_writes(dsn: str) -> None:
    async with open_postgres(dsn, claim(epoch=1), LONG) as old:
        await put(old, {"n": ["old"]})
        async with open_postgres(dsn, claim(epoch=2), LONG) as new:
            await put(new, {"n": ["new"]})
            with pytest.raises(StateFenced) as caught:
                await put(old, {"n": ["late"]})
            with pytest.raises(StateFenced):
                await old.aput_writes(await put(new, {"n": ["newer"]}), [("n", ["late"])], "task")
            with pytest.raises(StateFenced):
                async with open_postgres(dsn, claim(epoch=1), LONG):
                    pass
            kept = await new.aget_tuple(ROOT)
            assert kept is not None
            assert kept.checkpoint["channel_values"]["n"] == ["newer"]
    assert (caught.value.outcome.class_, caught.value.outcome.reason) == (OutcomeClass.INTERRUPTED, "Fenced")


async def test_the_thread_belongs_to_the_run_that_took_it_last(dsn: str) -> None:
    async with open_postgres(dsn, claim("first", epoch=3), LONG) as first:
        await put(first, {"n": [1]})
        async with open_postgres(dsn, claim("second"), LONG) as second:
            await put(second, {"n": [2]})
            with pytest.raises(StateFenced):
                await put(first, {"n": [3]})
    with pytest.raises(StateFenced):
        async with open_postgres(dsn, claim("first", epoch=2), LONG):
            pass


async def test_a_claim_waits_for_a_write_under_way(dsn: str) -> None:
    """The look at the fence and the write are one transaction: nothing comes in between."""
    async with open_postgres(dsn, claim(epoch=1), LONG):
        pass
    async with await psycopg.AsyncConnection.connect(dsn) as writing:
        await writing.execute(
            "SELECT 1 FROM skerry_epochs e JOIN skerry_threads t USING (run, thread_id) FOR SHARE OF e, t"
        )

        async def next_epoch() -> None:
            async with open_postgres(dsn, claim(epoch=2), LONG):
                pass

        task = asyncio.create_task(next_epoch())
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as watching:
            blocked = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            while (await (await watching.execute(blocked)).fetchone()) != (1,):  # noqa: ASYNC110 - no event tells it
                await asyncio.sleep(0.01)
        assert not task.done()
        await writing.rollback()
        await task


async def test_a_lost_connection_is_made_again(dsn: str) -> None:
    async with open_postgres(dsn, claim(), LONG) as saver:
        where = await put(saver, {"n": [1]})
        with psycopg.connect(dsn, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        await put(saver, {"n": [2]}, where)
        kept = await saver.aget_tuple(ROOT)
        assert kept is not None
        assert kept.checkpoint["channel_values"]["n"] == [2]


async def test_a_database_lost_in_mid_run_is_a_clear_failure_and_the_run_goes_on_later(
    server: Postgres,
) -> None:
    dsn = server.database()
    place = StatePlace(PersistenceType.POSTGRES, dsn=dsn, patience=SHORT)
    script = (
        "steps:\n- {toolCalls: [{name: bash, args: {command: once}}]}\n"
        "- {toolCalls: [{name: bash, args: {command: stop}}]}\n- {expect: {contains: ['did once']}, say: done}\n"
    )

    async def shell(command: Command) -> ExecResult:
        if command.command == "stop":
            await asyncio.to_thread(server.stop)
        return printed(f"did {command.command}\n")

    async with RunnerWorld(secrets=place.secrets()) as world:
        world.provider.sandbox.shell = shell
        try:
            result = await world.run(document(script), place=place)
        finally:
            await asyncio.to_thread(server.start)
        assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.INTERRUPTED, "StateLost")
        assert "the database can't be reached" in result.outcome.message
        assert PASSWORD not in result.outcome.message
        assert PASSWORD not in b"".join(world.sink.lines).decode()

    async with RunnerWorld() as after:
        after.provider.sandbox.shell = lambda command: asyncio.sleep(0, printed(f"did {command.command}\n"))
        again = StatePlace(PersistenceType.POSTGRES, dsn=dsn, patience=LONG)
        result = await after.run(document(script, epoch=2), place=again)
        assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "done")
        assert "once" not in [command.command for command in after.provider.sandbox.commands]


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("postgresql://u:{password}@[", "neither a PostgreSQL URI nor keywords"),
        ("host=127.0.0.1 port", "neither a PostgreSQL URI nor keywords"),
        ("wrong password", "password authentication failed"),
        ("no database", 'database "nowhere" does not exist'),
    ],
)  # fmt: skip
async def test_what_the_database_refuses_ends_the_run_at_once(server: Postgres, bad: str, words: str) -> None:
    dsn = {
        "wrong password": server.dsn("postgres", "secret-but-wrong"), "no database": server.dsn("nowhere"),
    }.get(bad, bad.format(password="secret-but-wrong"))  # fmt: skip
    place = StatePlace(PersistenceType.POSTGRES, dsn=dsn, patience=LONG)
    async with RunnerWorld() as world:
        result = await asyncio.wait_for(world.run(document(), place=place), 30)
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.APP_ERROR, "StateUnusable")
    assert words in result.outcome.message
    assert "secret-but-wrong" not in result.outcome.message


async def test_nobody_there_is_no_end_of_the_run() -> None:
    place = StatePlace(PersistenceType.POSTGRES, dsn="postgresql://u@127.0.0.1:1/x", patience=SHORT)
    with pytest.raises(StateLost, match="can't be reached"):
        async with open_state(place, claim()):
            pass
    with pytest.raises(StateUnusable, match="SKERRY_POSTGRES_DSN is not set"):
        async with open_state(StatePlace(PersistenceType.POSTGRES), claim()):
            pass


async def test_only_the_newest_checkpoints_of_a_thread_stay(dsn: str) -> None:
    async with open_postgres(dsn, claim(), LONG) as saver:
        where = ROOT
        for number in range(3 * PRUNE_EVERY):
            where = await put(saver, {"messages": [f"m{number}"] * 1000}, where)
        kept = await saver.aget_tuple(ROOT)
        assert kept is not None
        assert kept.checkpoint["channel_values"]["messages"][0] == f"m{3 * PRUNE_EVERY - 1}"
    for table in ("checkpoints", "checkpoint_writes", "checkpoint_blobs"):
        assert 0 < rows(dsn, table) <= PRUNE_EVERY + 1


async def test_a_forged_blob_ends_the_run(dsn: str, place: StatePlace) -> None:
    async with RunnerWorld() as world:
        await world.run(document("steps: [{say: one}]"), place=place)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("UPDATE checkpoint_blobs SET type = 'pickle' WHERE channel = 'messages'")
    async with RunnerWorld() as world:
        result = await world.run(document("steps: [{say: two}]", run="run-uid-2"), place=place)
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.APP_ERROR, "StateUnusable")
