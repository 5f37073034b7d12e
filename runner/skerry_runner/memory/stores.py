"""Where memories are kept: beside the state of threads, each kind of place with its store."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from skerry_api.document import DSN_ENV
from skerry_api.persistence import PersistenceType
from skerry_runner.persistence.errors import StateUnusable
from skerry_runner.persistence.patience import Patience

if TYPE_CHECKING:
    from langgraph.store.postgres import AsyncPostgresStore
    from langgraph.store.sqlite import AsyncSqliteStore

    from skerry_runner.memory.runmemory import OpenStore
    from skerry_runner.persistence.link import Connection, PostgresLink
    from skerry_runner.persistence.opening import StatePlace

__all__ = ["FILE", "in_process", "open_postgres_store", "open_sqlite_store", "store_at"]

FILE = "memory.sqlite"
BUSY_SECONDS = 10
POLL_SECONDS = 0.05
PATIENCE = Patience(in_all=20, attempt=10)
LOCK = 0x736B657272790002


def store_at(place: StatePlace) -> OpenStore:
    """How to open the memories that belong to a place of state. Opening raises StateUnusable, or what the driver raises."""
    match place.type:
        case PersistenceType.EPHEMERAL:
            return in_process
        case PersistenceType.VOLUME:
            directory = place.directory
            return lambda: (
                _unusable("there is no state directory")
                if directory is None
                else open_sqlite_store(directory)
            )
        case PersistenceType.POSTGRES:
            dsn = place.dsn
            return lambda: (
                open_postgres_store(dsn)
                if dsn
                else _unusable(f"the environment variable {DSN_ENV} is not set")
            )


@asynccontextmanager
async def in_process() -> AsyncIterator[BaseStore]:
    """Gone with the process."""
    yield InMemoryStore()


@asynccontextmanager
async def _unusable(words: str) -> AsyncIterator[BaseStore]:
    raise StateUnusable(words)
    yield


@asynccontextmanager
async def open_sqlite_store(directory: Path) -> AsyncIterator[BaseStore]:
    """Memories in one file of a directory; several processes may have it open.

    Raises:
        OSError, sqlite3.Error: no file can be had there, or it is no database of ours.
    """
    store = await asyncio.to_thread(_sqlite)
    path = directory / FILE
    # SQLite itself would let everybody read it.
    file = await asyncio.to_thread(os.open, path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        async with store.from_conn_string(str(path)) as opened:
            await opened.conn.execute(f"PRAGMA busy_timeout = {BUSY_SECONDS * 1000}")
            await _locked(file)
            try:
                await opened.setup()
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)
            yield opened
    finally:
        os.close(file)


async def _locked(file: int) -> None:
    """Tables are made by one process at a time; another has them in no time, unless it hangs."""
    async with asyncio.timeout(BUSY_SECONDS):
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                await asyncio.sleep(POLL_SECONDS)
            else:
                return


@asynccontextmanager
async def open_postgres_store(dsn: str) -> AsyncIterator[BaseStore]:
    """Memories in a database, for all threads of a user.

    Raises:
        StateUnusable, StateLost: as for checkpoints.
    """
    store, link_to = await asyncio.to_thread(_postgres)
    link = link_to(dsn, PATIENCE)

    async def ready(connection: Connection) -> Connection:
        await _ensure_tables(connection, store)
        return connection

    try:
        yield store(await link.run(ready))
    finally:
        await link.close()


async def _ensure_tables(connection: Connection, store: type[AsyncPostgresStore]) -> None:
    """Make or migrate what is missing. A role that may not do so needs tables that are there."""
    while not await _complete(connection, len(store.MIGRATIONS)):
        # Tried, not waited for: an index that is made concurrently waits for every statement, a waiting one too.
        got = await connection.execute("SELECT pg_try_advisory_lock(%s) AS got", (LOCK,))
        row = await got.fetchone()
        if row is None or not row["got"]:
            await asyncio.sleep(POLL_SECONDS)
            continue
        try:
            await store(connection).setup()
        finally:
            await connection.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


async def _complete(connection: Connection, migrations: int) -> bool:
    found = await connection.execute("SELECT to_regclass('store_migrations') IS NOT NULL AS there")
    row = await found.fetchone()
    if row is None or not row["there"]:
        return False
    newest = await (await connection.execute("SELECT max(v) AS v FROM store_migrations")).fetchone()
    return newest is not None and newest["v"] is not None and newest["v"] >= migrations - 1


# In a thread: the drivers take their time to import, and a run needs one of them at most.
def _sqlite() -> type[AsyncSqliteStore]:
    from langgraph.store.sqlite import AsyncSqliteStore

    return AsyncSqliteStore


def _postgres() -> tuple[type[AsyncPostgresStore], type[PostgresLink]]:
    from langgraph.store.postgres import AsyncPostgresStore

    from skerry_runner.persistence.link import PostgresLink

    return AsyncPostgresStore, PostgresLink
