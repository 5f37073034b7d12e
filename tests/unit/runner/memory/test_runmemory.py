"""A run's memory end to end, with the real graph: what one run learns another thread's run is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import BaseStore

from skerry_api.document import RunDocument
from skerry_api.persistence import PersistenceType
from skerry_api.phases import OutcomeClass
from skerry_api.rows.memory import MemorySettings
from skerry_runner.memory.book import MemoryBook, Owner
from skerry_runner.memory.facts import Change
from skerry_runner.memory.runmemory import RunMemory
from skerry_runner.persistence.opening import StatePlace
from skerry_runner.ports import CancelReason
from skerry_testing.memories import UnreliableStore, fact, opened, pending, snapshot
from skerry_testing.runnerworld import RunnerWorld, document

LEARN = """
- purpose: memory
  say: '{"add": [{"content": "Likes tea.", "category": "preference", "confidence": 0.9}], "remove": []}'
"""
US = Owner("user", "lead")


def remembering(steps: str, *, run: str = "r1", thread: str = "t1", **settings: Any) -> RunDocument:
    return document(
        f"steps:\n{steps}", run=run, thread=thread, pipeline={"memory": {"enabled": True, **settings}}
    )


@pytest.fixture
def store() -> UnreliableStore:
    return UnreliableStore()


@pytest.fixture
def book(store: UnreliableStore) -> MemoryBook:
    return MemoryBook(store, "ns")


async def known(book: MemoryBook) -> list[str]:
    return sorted(each.content for each in await book.facts(US))


def types(world: RunnerWorld, *prefixes: str) -> list[str]:
    return [event["type"] for event in world.sink.events() if event["type"].startswith(prefixes)]


async def test_what_one_run_learns_the_next_thread_is_told(
    world: RunnerWorld, store: UnreliableStore, book: MemoryBook
) -> None:
    first = await world.run(remembering("- say: noted" + LEARN), open_memory=opened(store))
    assert (first.outcome.class_, first.answer) == (OutcomeClass.SUCCEEDED, "noted")
    assert await known(book) == ["Likes tea."]
    assert await book.waiting() == []
    told = "- {expect: {contains: ['<memory>\\n- Likes tea. \\(preference\\)\\n</memory>']}, say: hello}"
    second = await world.run(remembering(told, run="r2", thread="t2"), open_memory=opened(store))
    assert second.answer == "hello", second.outcome
    other = document("steps: [{expect: {absent: ['<memory>']}, say: hi}]", run="r3", thread="t3", pipeline={})
    assert (await world.run(other, open_memory=opened(store))).answer == "hi"


async def test_the_journal_has_it_in_order_and_without_texts(
    world: RunnerWorld, store: UnreliableStore
) -> None:
    await world.run(remembering("- say: noted" + LEARN), open_memory=opened(store))
    events = world.sink.events("memory.enqueued", "memory.updated")
    assert types(world, "memory", "run.end") == ["memory.enqueued", "memory.updated", "run.end"]
    assert {key: events[0][key] for key in ("exchanges", "chars", "correction", "reinforcement", "flush")} == {
        "exchanges": 1, "chars": len("Please do it.noted"), "correction": False, "reinforcement": False, "flush": "AtEnd",
    }  # fmt: skip
    assert (events[1]["status"], events[1]["ofThread"], events[1]["added"]) == ("updated", "t1", 1)
    (asked,) = [e for e in world.sink.events("model.request") if e.get("purpose") == "memory"]
    assert "tools" not in asked or asked["tools"] == []


async def test_its_tokens_count_for_the_run(world: RunnerWorld, store: UnreliableStore) -> None:
    used = "\n  usage: {input: 70, output: 7}"
    result = await world.run(
        remembering("- {say: noted, usage: {input: 10, output: 1}}" + LEARN.rstrip() + used),
        open_memory=opened(store),
    )
    assert (result.usage.input, result.usage.output, result.usage.total) == (80, 8, 88)


async def test_the_snapshot_is_there_before_the_model_is_asked_and_the_end_reported(
    world: RunnerWorld, store: UnreliableStore, book: MemoryBook
) -> None:
    """What a crash in the update leaves behind; the thread's next run makes one update of both."""
    slow = LEARN + "  delaySeconds: 3600"
    crashed = asyncio.create_task(world.run(remembering("- say: noted" + slow), open_memory=opened(store)))
    await _until_asked(world)
    assert [each.pending.snapshot.run for each in await book.waiting()] == ["r1"]
    assert world.reporter.results == []
    crashed.cancel()
    await asyncio.wait({crashed})
    expect = "\n  expect: {contains: ['\\[agent\\] noted(.|\\n)*\\[agent\\] again']}"
    next_ = remembering("- say: again" + LEARN.rstrip() + expect, run="r2")
    result = await world.run(next_, open_memory=opened(store))
    assert result.answer == "again", result.outcome
    assert (await known(book), await book.waiting()) == (["Likes tea."], [])


async def _until_asked(world: RunnerWorld) -> None:
    def asked() -> bool:
        return any(event.get("purpose") == "memory" for event in world.sink.events("model.request"))

    await world.reporter.until(lambda progress: progress.model_calls == 2)
    await world.journal.flush()
    assert asked()


async def test_a_run_that_is_stopped_in_its_update_has_ended_well(
    world: RunnerWorld, store: UnreliableStore, book: MemoryBook
) -> None:
    slow = LEARN + "  delaySeconds: 3600"
    running = asyncio.create_task(world.run(remembering("- say: noted" + slow), open_memory=opened(store)))
    await _until_asked(world)
    world.cancellation.request(CancelReason.INTERRUPTED)
    result = await running
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "noted")
    assert len(await book.waiting()) == 1


async def test_an_update_has_its_bound(world: RunnerWorld, store: UnreliableStore, book: MemoryBook) -> None:
    slow = remembering("- say: noted" + LEARN + "  delaySeconds: 3600", flushTimeoutSeconds=1)
    result = await world.run(slow, open_memory=opened(store))
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "noted")
    assert len(await book.waiting()) == 1


@pytest.mark.parametrize("bad", ["I do not know", '{"add": "x"}', "", '{"add": [{"content": "x"}]}'])
async def test_a_useless_answer_changes_nothing(
    world: RunnerWorld, store: UnreliableStore, book: MemoryBook, bad: str
) -> None:
    await book.apply(US, Change(put=(fact("Uses tabs."),)))
    result = await world.run(
        remembering(f"- say: noted\n- purpose: memory\n  say: '{bad}'"), open_memory=opened(store)
    )
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "noted")
    assert await known(book) == ["Uses tabs."]
    (event,) = world.sink.events("memory.updated")
    assert (event["status"], event["dropped"]) == ("failed", False)
    assert [each.pending.attempts for each in await book.waiting()] == [1]


async def test_a_model_that_fails_leaves_it_for_later(
    world: RunnerWorld, store: UnreliableStore, book: MemoryBook
) -> None:
    failing = "- say: noted\n- {purpose: memory, error: {status: 401, message: denied}}"
    result = await world.run(remembering(failing), open_memory=opened(store))
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED
    assert len(await book.waiting()) == 1


async def test_a_script_that_expects_something_else_fails_the_run(
    world: RunnerWorld, store: UnreliableStore
) -> None:
    mismatched = LEARN.rstrip() + "\n  expect: {contains: [nonsense]}"
    result = await world.run(remembering("- say: noted" + mismatched), open_memory=opened(store))
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.APP_ERROR, "ScriptMismatch")


async def test_without_a_step_for_it_nothing_is_learned_nor_left(
    world: RunnerWorld, store: UnreliableStore, book: MemoryBook
) -> None:
    assert (await world.run(remembering("- say: noted"), open_memory=opened(store))).answer == "noted"
    assert (await known(book), await book.waiting()) == ([], [])


async def test_debounced_asks_nobody_and_leaves_the_snapshot(
    world: RunnerWorld, store: UnreliableStore, book: MemoryBook
) -> None:
    await world.run(remembering("- say: noted" + LEARN, flush="Debounced"), open_memory=opened(store))
    assert types(world, "memory") == ["memory.enqueued"]
    (waiting,) = await book.waiting()
    assert (waiting.pending.profile, waiting.pending.snapshot.fresh[0].answer) == ("profile", "noted")
    assert (waiting.pending.due - waiting.pending.snapshot.time).total_seconds() >= 30


async def test_others_threads_are_left_to_their_runs_until_they_are_due(
    world: RunnerWorld, store: UnreliableStore, book: MemoryBook
) -> None:
    """The world's clock moves on a second at each look, so minutes are far away."""
    await book.keep(pending(snapshot("late", user="user", thread="t8", run="r8"), due_minutes=60))
    await book.keep(pending(snapshot("due", user="user", thread="t9", run="r9"), due_minutes=0))
    await book.keep(pending(snapshot("alien", user="user", thread="t7", run="r7"), profile="another"))
    two = LEARN + "- purpose: memory\n  expect: {contains: ['\\[user\\] due']}\n  say: '{}'\n"
    await world.run(remembering("- say: noted" + two), open_memory=opened(store))
    assert sorted(each.pending.snapshot.thread for each in await book.waiting()) == ["t7", "t8"]
    assert [event["ofThread"] for event in world.sink.events("memory.updated")] == ["t1", "t9"]


async def test_profiles_may_keep_their_memories_apart(world: RunnerWorld, store: UnreliableStore) -> None:
    await world.run(remembering("- say: noted" + LEARN, agent="coder"), open_memory=opened(store))
    for agent, sees in (("coder", "contains"), ("lead", "absent")):
        steps = f"- {{expect: {{{sees}: ['Likes tea']}}, say: ok}}"
        result = await world.run(
            remembering(steps, run=agent, thread=agent, agent=agent), open_memory=opened(store)
        )
        assert result.answer == "ok", (agent, result.outcome)


async def test_a_store_that_is_down_costs_no_run(world: RunnerWorld, store: UnreliableStore) -> None:
    store.down = True
    result = await world.run(remembering("- say: noted" + LEARN), open_memory=opened(store))
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "noted")
    faults = [(event["row"], event["hook"]) for event in world.sink.events("pipeline.fault")]
    assert faults == [("DynamicContext", "before_agent"), ("Memory", "after_agent"), ("Memory", "flush")]
    assert types(world, "memory") == ["memory.enqueued"]


async def test_a_store_that_hangs_holds_nobody_up(world: RunnerWorld, store: UnreliableStore) -> None:
    store.hangs = True
    memory = RunMemory(
        opened(store), namespace="ns", epoch=1, profile="p", settings=MemorySettings(flush_timeout_seconds=1),
        journal=world.journal, clock=world.clock, keep_seconds=0.05,
    )  # fmt: skip

    async def never(_messages: object) -> str:
        raise AssertionError("there is nothing to ask")

    await memory.remember(snapshot("a", user="user"))
    await memory.finish(never, thread="t", user="user")
    await memory.close()
    await world.journal.flush()
    faults = [(event["hook"], event["error"]) for event in world.sink.events("pipeline.fault")]
    assert faults == [("after_agent", "TimeoutError"), ("flush", "TimeoutError")]
    assert [each.run for each in memory.queue.waiting()] == ["r1"]


async def test_a_store_that_can_not_be_opened_costs_no_run(world: RunnerWorld) -> None:
    tries: list[int] = []

    @asynccontextmanager
    async def broken() -> AsyncIterator[BaseStore]:
        tries.append(1)
        raise ConnectionRefusedError("nobody listens")
        yield

    result = await world.run(remembering("- say: noted" + LEARN), open_memory=broken)
    assert result.answer == "noted"
    assert len(tries) == 3, "each use tries anew"
    assert {event["error"] for event in world.sink.events("pipeline.fault")} == {"ConnectionRefusedError"}


async def test_a_store_that_comes_back_gets_the_snapshot(
    world: RunnerWorld, store: UnreliableStore, book: MemoryBook
) -> None:
    tries: list[int] = []

    @asynccontextmanager
    async def late() -> AsyncIterator[BaseStore]:
        tries.append(1)
        if len(tries) < 3:
            raise ConnectionRefusedError("nobody listens")
        yield store

    await world.run(remembering("- say: noted" + LEARN), open_memory=late)
    assert await known(book) == ["Likes tea."]


async def test_a_run_that_has_used_up_its_tokens_asks_nothing_more(
    world: RunnerWorld, store: UnreliableStore, book: MemoryBook
) -> None:
    spent = remembering("- {say: noted, usage: {input: 90, output: 10}}" + LEARN)
    result = await world.run(spent.model_copy(update={"max_tokens": 100}), open_memory=opened(store))
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "noted")
    assert result.usage.total == 100
    assert [event["error"] for event in world.sink.events("memory.updated")] == [
        "the run has used up its budget"
    ]
    assert len(await book.waiting()) == 1


async def test_a_thread_s_own_memory_is_told_to_its_next_run(world: RunnerWorld, tmp_path: Path) -> None:
    """A volume holds one thread's state, so nobody else can be told."""
    place = StatePlace(PersistenceType.VOLUME, tmp_path)
    await world.run(remembering("- say: noted" + LEARN), place=place)
    told = remembering("- {expect: {contains: ['<memory>\\n- Likes tea']}, say: hello}", run="r2")
    result = await world.run(told, place=place)
    assert result.answer == "hello", result.outcome


async def test_a_run_without_an_answer_is_not_remembered(
    world: RunnerWorld, store: UnreliableStore, book: MemoryBook
) -> None:
    capped = remembering(
        "- {say: x, toolCalls: [{name: ls, args: {path: /mnt/user-data/workspace}}]}" + LEARN
    )
    result = await world.run(capped.model_copy(update={"max_turns": 1}), open_memory=opened(store))
    assert result.stop_reason == "TurnCapped"
    assert types(world, "memory") == []
    assert await book.waiting() == []


async def test_memory_that_is_off_opens_no_store(world: RunnerWorld) -> None:
    @asynccontextmanager
    async def never() -> AsyncIterator[BaseStore]:
        raise AssertionError("nobody needs it")
        yield

    assert (await world.run(document("steps: [{say: hi}]"), open_memory=never)).answer == "hi"
    assert world.sink.events("pipeline.fault") == []
