"""Snapshots, facts and stores for tests of memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from langgraph.store.base import BaseStore, Op, Result
from langgraph.store.memory import InMemoryStore
from typing_extensions import override

from skerry_runner.memory.book import MemoryBook, Pending
from skerry_runner.memory.facts import Category, Fact, fact_id
from skerry_runner.memory.snapshot import Exchange, Snapshot
from skerry_runner.memory.update import due_groups

__all__ = [
    "NOON",
    "UnreliableStore",
    "an_older_epoch_takes_nothing_from_a_newer",
    "answered",
    "fact",
    "opened",
    "pending",
    "snapshot",
]

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


def pending(
    what: Snapshot, *, due_minutes: int = 0, profile: str = "profile", epoch: int = 1, attempts: int = 0
) -> Pending:
    due = NOON + timedelta(minutes=due_minutes)
    return Pending(snapshot=what, profile=profile, due=due, epoch=epoch, attempts=attempts)


def answered(answer: str, *, minutes: int, also: str | None = None) -> Snapshot:
    """What a run's user said with an answer of its own; `also` is said in that epoch alone."""
    made = snapshot("hello", *([also] if also else []), minutes=minutes)
    fresh = tuple(each.model_copy(update={"answer": answer}) for each in made.fresh)
    return made.model_copy(update={"fresh": fresh})


async def an_older_epoch_takes_nothing_from_a_newer(opening: Callable[[], Any]) -> None:
    """`opening` gives the same store each time, as two processes have it."""
    async with opening() as of_old, opening() as of_new:
        old, new = MemoryBook(of_old, "ns"), MemoryBook(of_new, "ns")
        await old.keep(pending(answered("old", minutes=0), epoch=2))
        seen = await old.waiting()
        await new.keep(pending(answered("new", minutes=1), epoch=10))
        await old.keep(pending(answered("late", minutes=2, also="more"), epoch=2))
        ((group, members),) = due_groups(await new.waiting(), None)
        assert {(each.user, each.answer) for each in group.fresh} == {("hello", "new"), ("more", "late")}
        assert len(members) == 2, "what is drawn from is done with"
        await old.drop(seen)
        ((group, _),) = due_groups(await new.waiting(), None)
        assert [(each.user, each.answer) for each in group.fresh] == [("hello", "new")]


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
