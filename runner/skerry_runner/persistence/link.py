"""A connection to Postgres that comes back: what is to be done is done again on a new one, within bounds."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import psycopg
from psycopg import AsyncConnection
from psycopg.rows import DictRow, dict_row
from tenacity import AsyncRetrying, retry_if_exception, stop_after_delay, wait_random_exponential

from skerry_runner.persistence.dsn import parsed
from skerry_runner.persistence.errors import StateLost, StateUnusable
from skerry_runner.persistence.patience import Patience

__all__ = ["Connection", "PostgresLink", "passes"]

T = TypeVar("T")
Connection = AsyncConnection[DictRow]
log = logging.getLogger(__name__)

_CONFLICTS = ("40001", "40P01", "25006")
"""Serialization failure, deadlock; read-only: a standby that is about to become the primary."""
_REFUSED = re.compile(
    r"password authentication failed|no password supplied|no pg_hba\.conf entry"
    r"|(?:role|database) \"[^\"]*\" does not exist|permission denied"
)


def passes(error: BaseException) -> bool:
    """Whether the same may work later: nobody answers, or not now. What the server refuses for good does not."""
    if isinstance(error, TimeoutError | OSError | psycopg.InterfaceError):
        return True
    if not isinstance(error, psycopg.Error):
        return False
    if error.sqlstate in _CONFLICTS:
        return True
    # Errors of a connection that never came about carry no SQLSTATE.
    return isinstance(error, psycopg.OperationalError) and not _REFUSED.search(str(error))


class PostgresLink:
    """One connection at a time. Use it from one task at a time."""

    def __init__(self, dsn: str, patience: Patience) -> None:
        """Raises StateUnusable when `dsn` is no connection string."""
        self._settings: dict[str, Any] = {"connect_timeout": 10, "application_name": "skerry", **parsed(dsn)}
        self._patience = patience
        self._connection: Connection | None = None

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """What `work` returns. It must be safe to do twice: a commit whose answer was lost is done again.

        Raises:
            StateLost: the database did not do it within the patience.
            StateUnusable: the database refuses.
        """
        patience = self._patience
        attempts = AsyncRetrying(
            stop=stop_after_delay(patience.in_all),
            wait=wait_random_exponential(multiplier=patience.first, max=patience.most),
            retry=retry_if_exception(passes),
            reraise=True,
        )
        try:
            async for attempt in attempts:
                with attempt:
                    return await self._once(work)
        except (TimeoutError, OSError, psycopg.Error) as error:
            words = str(error).strip() or type(error).__name__
            if passes(error):
                raise StateLost(f"the database can't be reached: {words}") from error
            raise StateUnusable(f"the database refuses: {words}") from error
        raise AssertionError  # pragma: no cover - the loop returns or raises

    async def _once(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._patience.attempt):
                if self._connection is None:
                    self._connection = await _connect(self._settings)
                return await work(self._connection)
        except (TimeoutError, OSError, psycopg.Error) as error:
            log.warning("the database does not do as told: %s", str(error).strip() or type(error).__name__)
            await self.close()
            raise

    async def close(self) -> None:
        """Let go of the connection; the next `run` makes another one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()


async def _connect(settings: dict[str, Any]) -> Connection:
    # Nothing prepared on the server: there may be a pooler in between.
    return await AsyncConnection[DictRow].connect(
        autocommit=True, prepare_threshold=None, row_factory=dict_row, **settings
    )
