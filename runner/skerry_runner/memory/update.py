"""Waiting snapshots become facts: one question to the model per thread, whatever the answer nothing is half done."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce

from langchain_core.messages import BaseMessage

from skerry_api.rows.memory import MemorySettings
from skerry_runner.memory.ask import BadAnswer, parse_answer, question
from skerry_runner.memory.book import MemoryBook, Owner, Waiting
from skerry_runner.memory.facts import Change, changed, over_cap
from skerry_runner.memory.snapshot import Snapshot, SnapshotKey, folded

__all__ = ["ATTEMPTS", "KEPT_FOR", "Ask", "Unanswered", "Updated", "due_groups", "flush_group", "learn"]

ATTEMPTS = 3
"""Useless answers after which a snapshot is given up."""
KEPT_FOR = timedelta(days=14)
"""How long a snapshot waits for a model that can't be asked."""


class Unanswered(Exception):
    """The model could not be asked; `final`: nor will it be."""

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


Ask = Callable[[Sequence[BaseMessage]], Awaitable[str]]
"""The text of the model's answer. Raises Unanswered."""


@dataclass(frozen=True)
class Updated:
    """What became of the snapshots of one key: `error` if no facts could be drawn, `dropped` if they never will be."""

    key: SnapshotKey
    added: int = 0
    removed: int = 0
    error: str | None = None
    dropped: bool = False


Group = tuple[Snapshot, tuple[Waiting, ...]]


def due_groups(
    waiting: Sequence[Waiting], now: datetime | None, *, thread: str | None = None, profile: str | None = None
) -> list[Group]:
    """Snapshots of one key folded into one: those of `thread` first, then what is due at `now` (None: everything).

    One that is not due keeps all of its key waiting: its thread is still at work. `profile` leaves out others'.
    """
    chosen = [each for each in waiting if profile is None or each.pending.profile == profile]
    chosen.sort(key=lambda each: (each.pending.snapshot.key, each.pending.snapshot.time))
    groups: list[Group] = []
    for key, of_key in itertools.groupby(chosen, key=lambda each: each.pending.snapshot.key):
        members = tuple(of_key)
        if key.thread == thread or now is None or all(each.pending.due <= now for each in members):
            groups.append((reduce(folded, _by_newest_epochs(members)), members))
    return sorted(groups, key=lambda group: (group[0].thread != thread, group[0].time))


def _by_newest_epochs(members: Sequence[Waiting]) -> list[Snapshot]:
    """Their snapshots in the same order, without what a newer epoch of the same run has written too."""
    kept = []
    for each in members:
        snapshot = each.pending.snapshot
        newer = {
            exchange.id
            for other in members
            if other.pending.snapshot.run == snapshot.run and other.pending.epoch > each.pending.epoch
            for exchange in other.pending.snapshot.fresh
        }
        if left := tuple(exchange for exchange in snapshot.fresh if exchange.id not in newer):
            kept.append(
                snapshot if len(left) == len(snapshot.fresh) else snapshot.model_copy(update={"fresh": left})
            )
    return kept


async def learn(
    book: MemoryBook, snapshot: Snapshot, ask: Ask, settings: MemorySettings, now: datetime
) -> Change:
    """Ask the model what a snapshot changes, and change it.

    Raises:
        Unanswered, BadAnswer: nothing was changed.
    """
    owner = Owner(snapshot.user, snapshot.agent)
    known = await book.facts(owner)
    answer = parse_answer(await ask(question(snapshot, known, max_tokens=settings.max_input_tokens)))
    # Another run may have written while the model thought.
    change = changed(await book.facts(owner), answer, run=snapshot.run, now=now, settings=settings)
    await book.apply(owner, change)
    if change.put:
        # Two runs at once may both have found room.
        over = over_cap(await book.facts(owner), settings.max_facts)
        await book.apply(owner, Change(delete=tuple(fact.id for fact in over)))
    return change


async def flush_group(
    book: MemoryBook, group: Group, ask: Ask, settings: MemorySettings, now: datetime
) -> Updated:
    """Draw facts from the snapshots of one key. Raises what the store raises; then they wait on."""
    snapshot, members = group
    try:
        change = await learn(book, snapshot, ask, settings, now)
    except Unanswered as error:
        gone = [each for each in members if error.final or each.pending.snapshot.time <= now - KEPT_FOR]
        await book.drop(gone)
        return Updated(snapshot.key, error=str(error), dropped=len(gone) == len(members))
    except BadAnswer as error:
        tried = max((each.pending.attempts for each in members), default=0) + 1
        given_up = tried >= ATTEMPTS
        if given_up:
            await book.drop(members)
        for each in () if given_up else members:
            await book.replace(each, each.pending.model_copy(update={"attempts": tried}))
        return Updated(snapshot.key, error=f"the answer is of no use: {error}", dropped=given_up)
    await book.drop(members)
    return Updated(snapshot.key, added=len(change.put), removed=len(change.delete))
