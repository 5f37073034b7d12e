"""Files that wait for a sandbox, in the database that has the checkpoints; fenced as these are."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from typing_extensions import override

from skerry_runner.persistence.link import Connection
from skerry_runner.waiting import WAITING_MAX, WaitingFiles

if TYPE_CHECKING:
    from skerry_runner.persistence.postgres import PostgresSaver

__all__ = ["TABLE", "WaitingRows"]

# Bytes, since a path may be what no text of Postgres can be.
TABLE = """
CREATE TABLE IF NOT EXISTS skerry_waiting (
    thread_id TEXT NOT NULL, path BYTEA NOT NULL, data BYTEA NOT NULL,
    kept_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (thread_id, path)
);
"""
_LOAD = "SELECT path, data FROM skerry_waiting WHERE thread_id = %s ORDER BY kept_at DESC"
_HELD = (
    "SELECT coalesce(sum(length(data)), 0) AS held FROM skerry_waiting WHERE thread_id = %s AND path <> %s"
)
_PUT = """
INSERT INTO skerry_waiting (thread_id, path, data) VALUES (%s, %s, %s)
ON CONFLICT (thread_id, path) DO UPDATE SET data = EXCLUDED.data, kept_at = clock_timestamp()
"""
_DROP = "DELETE FROM skerry_waiting WHERE thread_id = %s AND path = %s"
log = logging.getLogger(__name__)


class WaitingRows(WaitingFiles):
    def __init__(self, saver: PostgresSaver, thread: str, *, most: int = WAITING_MAX) -> None:
        self._saver, self._thread, self._most = saver, thread, most

    @override
    async def load(self) -> Mapping[str, bytes]:
        async def work(connection: Connection) -> dict[str, bytes]:
            found = await connection.execute(_LOAD, (self._thread,))
            return {_text(row["path"]): bytes(row["data"]) for row in await found.fetchall()}

        return await self._saver.fenced(work)

    @override
    async def put(self, path: str, data: bytes) -> None:
        async def work(connection: Connection) -> None:
            found = await connection.execute(_HELD, (self._thread, _raw(path)))
            row = await found.fetchone()
            if row is None or row["held"] + len(data) > self._most:
                log.warning("%s is not kept for later runs: too much waits for a sandbox already", path)
                return
            await connection.execute(_PUT, (self._thread, _raw(path), data))

        await self._saver.fenced(work)

    @override
    async def drop(self, path: str) -> None:
        async def work(connection: Connection) -> None:
            await connection.execute(_DROP, (self._thread, _raw(path)))

        await self._saver.fenced(work)


def _raw(path: str) -> bytes:
    return path.encode("utf-8", "surrogatepass")


def _text(raw: bytes) -> str:
    return bytes(raw).decode("utf-8", "surrogatepass")
