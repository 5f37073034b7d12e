"""The one place where kept state is opened, whatever its kind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import BaseCheckpointSaver

from skerry_api.document import DSN_ENV
from skerry_api.persistence import PersistenceType
from skerry_runner.checkpoint import memory_saver
from skerry_runner.persistence.claim import Claim
from skerry_runner.persistence.errors import StateUnusable
from skerry_runner.persistence.patience import Patience
from skerry_runner.waiting import WAITING_FOLDER, NotKept, WaitingDirectory, WaitingFiles

if TYPE_CHECKING:
    from skerry_runner.persistence.postgres import PostgresSaver
    from skerry_runner.persistence.sqlite import SqliteSaver

__all__ = ["KeptState", "StatePlace", "open_state"]


@dataclass(frozen=True)
class StatePlace:
    """Where state is kept: `directory` for Volume, `dsn` (libpq URI or keywords, with its password) for Postgres."""

    type: PersistenceType = PersistenceType.EPHEMERAL
    directory: Path | None = None
    dsn: str | None = field(default=None, repr=False)
    patience: Patience = field(default_factory=Patience)

    @property
    def volume(self) -> Path | None:
        """The directory that outlives the process, if there is one."""
        return self.directory if self.type is PersistenceType.VOLUME else None

    def secrets(self) -> tuple[str, ...]:
        """What must not be seen of it."""
        if not self.dsn:
            return ()
        from skerry_runner.persistence.dsn import password_of

        return tuple(secret for secret in (self.dsn, password_of(self.dsn)) if secret)


@dataclass(frozen=True)
class KeptState:
    """What a run has of its kept state while it is open."""

    saver: BaseCheckpointSaver[Any]
    waiting: WaitingFiles = field(default_factory=NotKept)
    """Files for the thread's next sandbox."""


@asynccontextmanager
async def open_state(place: StatePlace, claim: Claim) -> AsyncIterator[KeptState]:
    """Open the state of `claim.thread` for one epoch of one run.

    Raises:
        StateUnusable: as it is configured, it can't be used.
        StateLost: it could not be reached within the place's patience.
        StateFenced: a newer epoch was there first.
    """
    match place.type:
        case PersistenceType.EPHEMERAL:
            yield KeptState(memory_saver())
        case PersistenceType.VOLUME:
            if place.directory is None:
                raise StateUnusable("there is no state directory")
            async with (await asyncio.to_thread(_sqlite))(place.directory) as sqlite:
                yield KeptState(sqlite, WaitingDirectory(place.directory / WAITING_FOLDER))
        case PersistenceType.POSTGRES:
            if not place.dsn:
                raise StateUnusable(f"the environment variable {DSN_ENV} is not set")
            async with (await asyncio.to_thread(_postgres))(place.dsn, claim, place.patience) as postgres:
                yield KeptState(postgres, (await asyncio.to_thread(_rows))(postgres, claim.thread))


# In a thread: the drivers take their time to import, and a run needs one of them at most.
def _sqlite() -> Callable[[Path], AbstractAsyncContextManager[SqliteSaver]]:
    from skerry_runner.persistence.sqlite import open_sqlite

    return open_sqlite


def _rows() -> Callable[[PostgresSaver, str], WaitingFiles]:
    from skerry_runner.persistence.waitingrows import WaitingRows

    return WaitingRows


def _postgres() -> Callable[[str, Claim, Patience], AbstractAsyncContextManager[PostgresSaver]]:
    from skerry_runner.persistence.postgres import open_postgres

    return open_postgres
