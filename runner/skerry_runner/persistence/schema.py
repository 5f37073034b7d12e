"""Tables are made by the first runner that finds none; many may start at once, and most find them there."""

from __future__ import annotations

import asyncio

from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

from skerry_runner.persistence.fence import TABLES
from skerry_runner.persistence.link import Connection
from skerry_runner.persistence.waitingrows import TABLE

__all__ = ["ensure_tables"]

LOCK = 0x736B657272790001
POLL_SECONDS = 0.2


async def ensure_tables(connection: Connection) -> None:
    """Make or migrate what is missing. A role that may not do so needs tables that are there."""
    while not await _complete(connection):
        # Tried, not waited for: an index that is made concurrently waits for every statement, a waiting one too.
        got = await connection.execute("SELECT pg_try_advisory_lock(%s) AS got", (LOCK,))
        row = await got.fetchone()
        if row is None or not row["got"]:
            await asyncio.sleep(POLL_SECONDS)
            continue
        try:
            await AsyncPostgresSaver(connection).setup()
            await connection.execute(TABLES)
            await connection.execute(TABLE)
        finally:
            await connection.execute("SELECT pg_advisory_unlock(%s)", (LOCK,))


async def _complete(connection: Connection) -> bool:
    names = ("checkpoint_migrations", "skerry_epochs", "skerry_threads", "skerry_waiting")
    found = await connection.execute(
        "SELECT bool_and(to_regclass(name) IS NOT NULL) AS all FROM unnest(%s::text[]) AS name",
        (list(names),),
    )
    row = await found.fetchone()
    if row is None or not row["all"]:
        return False
    newest = await connection.execute("SELECT max(v) AS v FROM checkpoint_migrations")
    row = await newest.fetchone()
    return row is not None and row["v"] is not None and row["v"] >= len(AsyncPostgresSaver.MIGRATIONS) - 1
