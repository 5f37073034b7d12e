"""Snapshots, facts and stores for tests of memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from langgraph.store.base import BaseStore, Op, Result
from langgraph.store.memory import InMemoryStore
from typing_extensions import override

from skerry_runner.memory.book import Pending
from skerry_runner.memory.facts import Category, Fact, fact_id
from skerry_runner.memory.snapshot import Exchange, Snapshot

__all__ = ["NOON", "UnreliableStore", "fact", "opened", "pending", "snapshot"]

NOON = datetime(2026, 5, 8, 12, tzinfo=UTC)


def fact(content: str, confidence: float = 0.9, *, minutes: int = 0, run: str = "r0") -> Fact:
    return Fact(
        id=fact_id(content), content=content, category=Category.PREFERENCE, confidence=confidence, run=run,
        time=NOON + timedelta(minutes=minutes),
    )  # fmt: skip


def snapshot(
    *said: str,
    thread: str = "t",
    user: str = "u",
    agent: str = "lead",
    run: str = "r1",
    minutes: int = 0,
    **kwargs: Any,
) -> Snapshot:
    """What a user said, each answered by `ok`."""
    fresh = tuple(Exchange(id=f"{run}/{text}", user=text, answer="ok") for text in said or ("hello",))
    time = NOON + timedelta(minutes=minutes)
    return Snapshot(thread=thread, user=user, agent=agent, run=run, time=time, fresh=fresh, **kwargs)


def pending(what: Snapshot, *, due_minutes: int = 0, profile: str = "profile", attempts: int = 0) -> Pending:
    return Pending(
        snapshot=what, profile=profile, due=NOON + timedelta(minutes=due_minutes), attempts=attempts
    )


class UnreliableStore(InMemoryStore):
    """`down` makes it refuse, `hangs` never answer; counts batches that were asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.down = self.hangs = False
        self.batches = 0

    @override
    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        self.batches += 1
        if self.down:
            raise ConnectionError("the store is down")
        if self.hangs:
            await asyncio.Event().wait()
        return await super().abatch(ops)


def opened(store: BaseStore) -> Any:
    """As an edge opens a store, but one that outlives the run."""

    @asynccontextmanager
    async def open_store() -> AsyncIterator[BaseStore]:
        yield store

    return open_store
