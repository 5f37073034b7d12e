"""Checkpoints in Postgres: fenced by epoch, on a connection that comes back, the newest checkpoints only."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import psycopg
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import ChannelVersions, Checkpoint, CheckpointMetadata, CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from typing_extensions import override

from skerry_runner.persistence import fence
from skerry_runner.persistence.claim import Claim
from skerry_runner.persistence.errors import StateLost, StateUnusable
from skerry_runner.persistence.finishing import Finishing
from skerry_runner.persistence.ids import stay_after
from skerry_runner.persistence.link import Connection, PostgresLink
from skerry_runner.persistence.patience import Patience
from skerry_runner.persistence.schema import ensure_tables
from skerry_runner.persistence.serializer import StrictSerializer

__all__ = ["PostgresSaver", "open_postgres"]

T = TypeVar("T")
PRUNE_EVERY = 16
"""Checkpoints between two prunings: each has its own copy of the history."""
log = logging.getLogger(__name__)


class PostgresSaver(AsyncPostgresSaver):
    """One epoch's saver. Its writes and the look at the fence are one transaction."""

    def __init__(self, connection: Connection, link: PostgresLink, claim: Claim) -> None:
        super().__init__(connection, serde=StrictSerializer())
        self._link, self._claim = link, claim
        # The library locks single statements, this whole transactions: others on the same connection would be in them.
        self._turn = asyncio.Lock()
        self._since_pruning = PRUNE_EVERY
        self._finishing = Finishing()

    @override
    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        found = await self._do(lambda: AsyncPostgresSaver.aget_tuple(self, config))
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
        written = await self._write(
            lambda: AsyncPostgresSaver.aput(self, config, checkpoint, metadata, new_versions)
        )
        self._since_pruning += 1
        if self._since_pruning >= PRUNE_EVERY and not config["configurable"].get("checkpoint_ns"):
            self._since_pruning = 0
            await self._prune(str(config["configurable"]["thread_id"]))
        return written

    @override
    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        await self._write(lambda: AsyncPostgresSaver.aput_writes(self, config, writes, task_id, task_path))

    async def _do(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do it on the connection there is; everything of the library's is safe to do twice."""

        async def on(connection: Connection) -> T:
            self.conn = connection
            return await work()

        return await self._finishing.run(self._in_turn(on))

    async def _write(self, work: Callable[[], Awaitable[T]]) -> T:
        async def on(connection: Connection) -> T:
            self.conn = connection
            return await work()

        return await self.fenced(on)

    async def fenced(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Do it in one transaction with the look at the fence; it may be done twice.

        Raises:
            StateFenced: this epoch may not write any more.
            StateLost, StateUnusable: as of a checkpoint.
        """

        async def checked(connection: Connection) -> T:
            async with connection.transaction():
                await fence.check(connection, self._claim)
                return await work(connection)

        return await self._finishing.run(self._in_turn(checked))

    async def _in_turn(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        async with self._turn:
            return await self._link.run(work)

    async def settle(self) -> None:
        """Return when every write is done that was begun."""
        await self._finishing.settle()

    async def _prune(self, thread: str) -> None:
        try:
            await self._do(lambda: AsyncPostgresSaver.aprune(self, [thread]))
        except (StateLost, StateUnusable, psycopg.Error) as error:
            # What is left over costs space alone, and the next one takes it along.
            log.warning("old checkpoints stay: %s", error)


@asynccontextmanager
async def open_postgres(dsn: str, claim: Claim, patience: Patience) -> AsyncIterator[PostgresSaver]:
    """Claim the thread and open its checkpoints.

    Raises:
        StateUnusable: no such database, user, right; or no connection string.
        StateLost: nobody answered within the patience.
        StateFenced: a newer epoch of the run was there.
    """
    link = PostgresLink(dsn, patience)

    async def ready(connection: Connection) -> Connection:
        await ensure_tables(connection)
        await fence.claim_thread(connection, claim)
        return connection

    try:
        saver = PostgresSaver(await link.run(ready), link, claim)
        try:
            yield saver
        finally:
            await saver.settle()
    finally:
        await link.close()
