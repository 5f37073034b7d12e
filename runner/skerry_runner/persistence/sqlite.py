"""Checkpoints in one SQLite file of the state directory: one process at a time, the newest checkpoints only."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import aiosqlite
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from typing_extensions import override

from skerry_runner.persistence.errors import StateUnusable
from skerry_runner.persistence.finishing import Finishing
from skerry_runner.persistence.ids import stay_after
from skerry_runner.persistence.serializer import StrictSerializer

__all__ = ["FILE", "SqliteSaver", "open_sqlite"]

T = TypeVar("T")
FILE = "checkpoints.sqlite"
PRUNE_EVERY = 16
"""Checkpoints between two prunings: each holds the whole history, so all of them would grow with its square."""


class SqliteSaver(AsyncSqliteSaver):
    """Keeps what a resume needs: the newest checkpoint of a thread, and at most a few before it."""

    def __init__(self, connection: aiosqlite.Connection, path: Path) -> None:
        super().__init__(connection, serde=StrictSerializer())
        self._path = path
        self._since_pruning = PRUNE_EVERY
        self.finishing = Finishing()

    @override
    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = await self._told(super().aget_tuple(config))
        if found is not None:
            stay_after(found.checkpoint["id"])
        return found

    @override
    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        written = await self._told(super().aput(config, checkpoint, metadata, new_versions))
        self._since_pruning += 1
        if self._since_pruning >= PRUNE_EVERY and not config["configurable"].get("checkpoint_ns"):
            self._since_pruning = 0
            await self._told(self._prune(str(config["configurable"]["thread_id"]), checkpoint["id"]))
        return written

    @override
    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        await self._told(super().aput_writes(config, writes, task_id, task_path))

    async def _prune(self, thread: str, newest: str) -> None:
        """Forget what is older than the root's newest checkpoint: graphs inside older steps are over too."""
        async with self.lock:
            for table in ("writes", "checkpoints"):
                statement = f"DELETE FROM {table} WHERE thread_id = ? AND checkpoint_id < ?"  # noqa: S608 - two names
                await self.conn.execute_fetchall(statement, (thread, newest))
            await self.conn.commit()

    async def _told(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await self.finishing.run(work)
        except sqlite3.Error as error:
            raise _unusable(self._path, error) from error


def _unusable(path: Path, error: Exception) -> StateUnusable:
    return StateUnusable(f"the state in {path.name} can't be used: {error}")


@asynccontextmanager
async def open_sqlite(directory: Path) -> AsyncIterator[SqliteSaver]:
    """Checkpoints of the threads that are kept in this directory.

    Raises:
        StateUnusable: no file can be had there, it is no database of ours, or another process has it open.
    """
    path = directory / FILE
    try:
        # SQLite itself would let everybody read it.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        connection = await aiosqlite.connect(path)
    except (OSError, sqlite3.Error) as error:
        raise _unusable(path, error) from error
    saver = SqliteSaver(connection, path)
    try:
        try:
            # One process, and so no shared memory: that would not work on every kind of volume.
            await connection.execute_fetchall("PRAGMA locking_mode = EXCLUSIVE")
            await saver.setup()
        except sqlite3.Error as error:
            raise _unusable(path, error) from error
        yield saver
    finally:
        await saver.finishing.settle()
        await connection.close()
