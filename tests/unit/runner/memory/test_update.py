"""Updates: which snapshots are due, and what the model's answer does to facts and to what waits."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from langchain_core.messages import BaseMessage
from langgraph.store.memory import InMemoryStore

from skerry_api.rows.memory import MemorySettings
from skerry_runner.memory.book import MemoryBook, Owner, Pending
from skerry_runner.memory.facts import Change
from skerry_runner.memory.update import ATTEMPTS, KEPT_FOR, Unanswered, Updated, due_groups, flush_group
from skerry_testing.memories import NOON, answered, fact, pending, snapshot

US = Owner("u", "lead")
SETTINGS = MemorySettings()


def saying(*contents: str, remove: Sequence[str] = ()) -> str:
    add = [{"content": text, "category": "goal", "confidence": 0.9} for text in contents]
    return json.dumps({"add": add, "remove": list(remove)})


class Model:
    """Gives its answers in turn; an exception is raised."""

    def __init__(self, *answers: str | Exception) -> None:
        self._answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, messages: Sequence[BaseMessage]) -> str:
        self.asked.append(messages[-1].text)
        await asyncio.sleep(0)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def flushed(book: MemoryBook, model: Model, *, now: Any = NOON, **settings: Any) -> list[Updated]:
    used = MemorySettings.model_validate(settings)
    groups = due_groups(await book.waiting(), None)
    return [await flush_group(book, group, model, used, now) for group in groups]


async def book_with(*waiting: Pending) -> MemoryBook:
    book = MemoryBook(InMemoryStore(), "ns")
    for each in waiting:
        await book.keep(each)
    return book


async def known(book: MemoryBook) -> list[str]:
    return sorted(each.content for each in await book.facts(US))


async def test_runs_in_a_row_cost_one_update() -> None:
    book = await book_with(
        *(pending(snapshot(f"m{n}", run=f"r{n}", minutes=n, correction=n == 1)) for n in range(5)),
    )
    model = Model(saying("Likes tea."))
    assert [(u.added, u.removed, u.error) for u in await flushed(book, model)] == [(1, 0, None)]
    assert [model.asked[0].count(f"[user] m{n}") for n in range(5)] == [1] * 5
    assert "corrected the agent here" in model.asked[0]
    assert (await known(book), await book.waiting()) == (["Likes tea."], [])


async def test_known_facts_are_told_and_may_be_removed() -> None:
    book = await book_with(pending(snapshot("I moved")))
    old = fact("Lives in Oslo.")
    await book.apply(US, Change(put=(old,)))
    model = Model(saying("Lives in Rome.", remove=[old.id]))
    assert [(u.added, u.removed) for u in await flushed(book, model)] == [(1, 1)]
    assert old.id in model.asked[0]
    assert await known(book) == ["Lives in Rome."]


@pytest.mark.parametrize("bad", ["", "I think…", '{"add": "x"}', saying("x")[:-2], '{"forget": []}'])
async def test_a_useless_answer_changes_nothing_and_is_given_up_in_the_end(bad: str) -> None:
    book = await book_with(pending(snapshot("a")))
    await book.apply(US, Change(put=(fact("Likes tea."),)))
    for attempt in range(1, ATTEMPTS + 1):
        (updated,) = await flushed(book, Model(bad))
        assert updated.error is not None
        assert updated.dropped is (attempt == ATTEMPTS)
        assert await known(book) == ["Likes tea."]
        assert [each.pending.attempts for each in await book.waiting()] == [attempt] * (attempt < ATTEMPTS)


async def test_a_model_that_can_not_be_asked_is_asked_again_for_two_weeks() -> None:
    book = await book_with(pending(snapshot("a")))
    down = Unanswered("the circuit is open")
    for _ in range(ATTEMPTS + 1):
        assert await flushed(book, Model(down)) == [Updated(snapshot().key, error="the circuit is open")]
    assert len(await book.waiting()) == 1
    assert [u.dropped for u in await flushed(book, Model(down), now=NOON + KEPT_FOR)] == [True]
    assert await book.waiting() == []


async def test_a_script_without_memory_remembers_nothing() -> None:
    book = await book_with(pending(snapshot("a")))
    assert [u.dropped for u in await flushed(book, Model(Unanswered("no step", final=True)))] == [True]
    assert (await known(book), await book.waiting()) == ([], [])


async def test_two_runs_at_once_lose_nothing_and_keep_the_cap() -> None:
    book = await book_with()
    await book.apply(US, Change(put=tuple(fact(f"old {n}", 0.8) for n in range(3))))
    ready = asyncio.Barrier(2)

    def racing(text: str) -> Any:
        async def ask(_messages: Sequence[BaseMessage]) -> str:
            await ready.wait()
            return saying(text)

        return ask

    used = MemorySettings(max_facts=4)
    for n in range(2):
        await book.keep(pending(snapshot("x", thread=f"t{n}", run=f"r{n}")))
    groups = due_groups(await book.waiting(), None)
    await asyncio.gather(
        *(flush_group(book, group, racing(f"new {n}"), used, NOON) for n, group in enumerate(groups))
    )
    facts = await known(book)
    assert len(facts) == 4
    assert {"new 0", "new 1"} <= set(facts)
    assert await book.waiting() == []


async def test_a_snapshot_that_came_meanwhile_waits_on() -> None:
    book = await book_with(pending(snapshot("a", run="r1")))

    async def ask(_messages: Sequence[BaseMessage]) -> str:
        await book.keep(pending(snapshot("b", run="r2")))
        return saying("x")

    (group,) = due_groups(await book.waiting(), None)
    await flush_group(book, group, ask, SETTINGS, NOON)
    assert [each.pending.snapshot.run for each in await book.waiting()] == ["r2"]


def due(waiting: Sequence[Any], minutes: int | None, **kwargs: str) -> list[str]:
    now = None if minutes is None else NOON + timedelta(minutes=minutes)
    return [group.thread for group, _ in due_groups(waiting, now, **kwargs)]


async def test_what_is_due() -> None:
    book = await book_with(
        pending(snapshot(thread="a", run="1", minutes=3), due_minutes=10),
        pending(snapshot(thread="b", run="1", minutes=2), due_minutes=5),
        pending(snapshot(thread="b", run="2", minutes=4), due_minutes=10),
        pending(snapshot(thread="c", run="1", minutes=1), due_minutes=5, profile="other"),
    )
    waiting = await book.waiting()
    assert due(waiting, 4) == []
    # A thread that is still at work waits as a whole.
    assert due(waiting, 5) == ["c"]
    assert due(waiting, 10) == ["c", "a", "b"]
    assert due(waiting, None) == ["c", "a", "b"]
    assert due(waiting, 10, profile="profile") == ["a", "b"]
    assert due(waiting, 4, thread="b") == ["b"]
    assert due(waiting, 10, thread="b", profile="profile") == ["b", "a"]


async def test_what_a_newer_epoch_has_written_is_not_drawn_from_twice() -> None:
    book = MemoryBook(InMemoryStore(), "ns")
    await book.keep(pending(answered("new", minutes=0), epoch=2))
    await book.keep(pending(answered("late", minutes=5), epoch=1))
    await book.keep(pending(snapshot("another run's", run="r2", minutes=9), epoch=1))
    ((group, members),) = due_groups(await book.waiting(), None)
    assert [(each.user, each.answer) for each in group.fresh] == [("hello", "new"), ("another run's", "ok")]
    assert len(members) == 3
