"""Memory in a real Postgres: many threads at once, a database that goes away, and the CronJob's process."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest

from skerry_api.persistence import PersistenceType
from skerry_api.phases import OutcomeClass
from skerry_api.rows.memory import MemorySettings
from skerry_runner.flush_memory import Job, flush
from skerry_runner.memory.book import MemoryBook, Owner
from skerry_runner.memory.facts import Change
from skerry_runner.memory.runmemory import RunMemory
from skerry_runner.memory.stores import open_postgres_store, store_at
from skerry_runner.persistence.opening import StatePlace
from skerry_testing.apiserver import ApiServer
from skerry_testing.manifests import a_profile
from skerry_testing.memories import an_older_epoch_takes_nothing_from_a_newer, fact, pending, snapshot
from skerry_testing.postgres import PASSWORD, Postgres, postgres_server
from skerry_testing.runnerworld import RunnerWorld, document

US = Owner("user", "lead")
ADDED = json.dumps({"add": [{"content": "Likes tea.", "category": "preference", "confidence": 0.9}]})
LEARN = {"purpose": "memory", "say": ADDED}


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    with postgres_server() as running:
        yield running


@pytest.fixture
def dsn(server: Postgres) -> str:
    return server.database()


async def known(dsn: str, namespace: str = "ns", owner: Owner = US) -> list[str]:
    async with open_postgres_store(dsn) as store:
        return sorted(each.content for each in await MemoryBook(store, namespace).facts(owner))


async def test_what_one_thread_learns_another_is_told(dsn: str) -> None:
    place = StatePlace(PersistenceType.POSTGRES, dsn=dsn)
    told = {"expect": {"contains": ["<memory>\n- Likes tea\\."]}, "say": "hello"}
    for number, steps in enumerate([[{"say": "noted"}, LEARN], [told]]):
        async with RunnerWorld() as world:
            made = document(
                json.dumps({"steps": steps}),
                run=f"r{number}",
                thread=f"t{number}",
                pipeline={"memory": {"enabled": True}},
            )
            result = await world.run(made, place=place)
            assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
            assert world.sink.events("pipeline.fault") == []


async def test_many_find_no_tables_at_once_and_lose_nothing(dsn: str) -> None:
    async def one(number: int) -> None:
        async with open_postgres_store(dsn) as store:
            book = MemoryBook(store, "ns")
            await book.apply(US, Change(put=(fact(f"fact {number}"),)))
            await book.keep(pending(snapshot(user="user", thread=f"t{number}")))

    await asyncio.gather(*(one(number) for number in range(8)))
    assert await known(dsn) == [f"fact {number}" for number in range(8)]
    async with open_postgres_store(dsn) as store:
        assert len(await MemoryBook(store, "ns").waiting()) == 8


async def test_users_whose_names_are_patterns_stay_apart(dsn: str) -> None:
    owners = [Owner(user, "lead") for user in ("a", "a.b", "a_b", "a%", "%", "axb", "A.B")]
    async with open_postgres_store(dsn) as store:
        book = MemoryBook(store, "ns")
        for owner in owners:
            await book.apply(owner, Change(put=(fact(f"is {owner.user}"),)))
        for owner in owners:
            assert [each.content for each in await book.facts(owner)] == [f"is {owner.user}"]
        assert await book.forget(Owner("%", "lead")) == (1, 0)
    assert await known(dsn, owner=Owner("a", "lead")) == ["is a"]


async def test_a_role_that_may_make_nothing_needs_tables_that_are_there(server: Postgres, dsn: str) -> None:
    async with open_postgres_store(dsn) as store:
        await MemoryBook(store, "ns").apply(US, Change(put=(fact("Likes tea."),)))
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE ROLE runner LOGIN PASSWORD 'runner-pass'")
        connection.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO runner")
    _, _, database = dsn.rpartition("/")
    limited = server.dsn(database).replace("skerry:", "runner:", 1)
    limited = limited.replace(limited.split("runner:")[1].split("@")[0], "runner-pass", 1)
    assert await known(limited) == ["Likes tea."]


async def test_a_database_that_goes_away_and_comes_back(server: Postgres, dsn: str) -> None:
    """Nothing is lost: what could not be written waits in the process, and the end of the run writes it."""
    async with RunnerWorld() as world:
        memory = RunMemory(
            store_at(StatePlace(PersistenceType.POSTGRES, dsn=dsn)), namespace="ns", epoch=1, profile="p",
            settings=MemorySettings(), journal=world.journal, clock=world.clock, keep_seconds=1,
        )  # fmt: skip

        async def ask(_messages: object) -> str:
            return ADDED

        assert await memory.recall(thread="t", user="user", agent="lead") == ""
        await memory.remember(snapshot("first", user="user", run="r1"))
        server.stop()
        try:
            await memory.remember(snapshot("second", user="user", run="r2", minutes=1))
            assert [each.run for each in memory.queue.waiting()] == ["r2"]
        finally:
            server.start()
        await memory.finish(ask, thread="t", user="user")
        await memory.close()
        await world.journal.flush()
        faults = [event["hook"] for event in world.sink.events("pipeline.fault")]
        assert faults == ["after_agent"]
        assert [event["status"] for event in world.sink.events("memory.updated")] == ["updated"]
    assert PASSWORD.encode() not in b"".join(world.sink.lines)
    assert await known(dsn) == ["Likes tea."]


async def account(api: ApiServer, folder: Path) -> Path:
    """A folder as a Pod's projected token stands in, with rights to read profiles."""
    meta = {"name": "memory"}
    rule = {
        "apiGroups": ["skerry.dev"],
        "resources": ["agentprofiles"],
        "resourceNames": ["p"],
        "verbs": ["get"],
    }
    rbac = "rbac.authorization.k8s.io"
    await api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    await api.create({"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": meta, "rules": [rule]})
    await api.create({
        "apiVersion": f"{rbac}/v1", "kind": "RoleBinding", "metadata": meta,
        "roleRef": {"apiGroup": rbac, "kind": "Role", "name": "memory"},
        "subjects": [{"kind": "ServiceAccount", "name": "memory", "namespace": api.namespace}],
    })  # fmt: skip
    (folder / "token").write_text(await api.token_for("memory"))
    (folder / "ca.crt").write_text(api.access.ca_pem)
    return folder


def scripted(*steps: Any) -> Any:
    return a_profile(
        name="p",
        model={"name": "scripted", "script": json.dumps({"steps": steps})},
        persistence={"type": "Postgres", "postgres": {"dsnSecretRef": {"name": "pg", "key": "dsn"}}},
        pipeline={"memory": {"enabled": True, "flush": "Debounced"}},
    )


async def test_the_cron_job_s_process(
    api: ApiServer, dsn: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await api.create(scripted(LEARN, {"purpose": "memory", "say": "no JSON"}))
    job = Job(api.namespace, "p", api.access.server, await account(api, tmp_path), dsn, None)
    assert await flush(job), "nothing is due yet"
    later = int(
        (datetime(2999, 1, 1, tzinfo=UTC) - datetime(2026, 5, 8, 12, tzinfo=UTC)).total_seconds() / 60
    )
    async with open_postgres_store(dsn) as store:
        book = MemoryBook(store, api.namespace)
        for run in ("r1", "r2", "r3"):
            await book.keep(pending(snapshot(run, user="user", thread="a", run=run), profile="p"))
        await book.keep(pending(snapshot("x", user="user", thread="b"), profile="p"))
        await book.keep(pending(snapshot("x", user="user", thread="c"), profile="p", due_minutes=later))
        await book.keep(pending(snapshot("x", user="user", thread="d"), profile="another"))
        await MemoryBook(store, "elsewhere").keep(
            pending(snapshot("x", user="user", thread="e"), profile="p")
        )
        assert not await flush(job), "one answer was of no use"
        assert {each.pending.snapshot.thread: each.pending.attempts for each in await book.waiting()} == {
            "b": 1, "c": 0, "d": 0,
        }  # fmt: skip
        assert len(await MemoryBook(store, "elsewhere").waiting()) == 1
    assert await known(dsn, api.namespace) == ["Likes tea."]
    said = [record.getMessage() for record in caplog.records if record.name == "skerry_runner.flush_memory"]
    assert said == [
        "user/lead, thread a: 1 added, 0 removed",
        "user/lead, thread b: the answer is of no use: Invalid JSON: expected ident at line 1 column 2",
    ]


async def test_epochs_of_a_run_are_apart(dsn: str) -> None:
    await an_older_epoch_takes_nothing_from_a_newer(lambda: open_postgres_store(dsn))
