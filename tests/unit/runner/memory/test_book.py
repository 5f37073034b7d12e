"""The book: facts and waiting snapshots in a store, apart by namespace, user and agent."""

from __future__ import annotations

from datetime import timedelta

from langgraph.store.memory import InMemoryStore

from skerry_runner.memory.book import ROOT, MemoryBook, Owner
from skerry_runner.memory.facts import Change
from skerry_testing.memories import NOON, fact, pending, snapshot

ANN = Owner("ann@example.org", "lead")
TEA, TABS = fact("Likes tea."), fact("Uses tabs.")


async def test_facts_are_put_replaced_and_deleted() -> None:
    book = MemoryBook(InMemoryStore(), "ns")
    await book.apply(ANN, Change(put=(TEA, TABS)))
    await book.apply(ANN, Change(put=(TEA.model_copy(update={"confidence": 1.0}),), delete=(TABS.id,)))
    assert await book.facts(ANN) == [TEA.model_copy(update={"confidence": 1.0})]


async def test_nobody_sees_another_s() -> None:
    store = InMemoryStore()
    book = MemoryBook(store, "ns")
    await book.apply(ANN, Change(put=(TEA,)))
    await book.keep(pending(snapshot(user=ANN.user)))
    others = [
        Owner("ann", "lead"),
        Owner("ann@example.org2", "lead"),
        Owner(ANN.user, "coder"),
        Owner("", "lead"),
    ]
    for where, owner in [(book, other) for other in others] + [
        (MemoryBook(store, "ns2"), ANN),
        (MemoryBook(store, "n"), ANN),
    ]:
        assert await where.facts(owner) == []
        assert await where.waiting(owner) == []
        assert await where.forget(owner) == (0, 0)
    assert len(await book.facts(ANN)) == len(await book.waiting(ANN)) == 1


async def test_more_than_a_page() -> None:
    book = MemoryBook(InMemoryStore(), "ns")
    await book.apply(ANN, Change(put=tuple(fact(f"f{n}") for n in range(450))))
    assert {found.content for found in await book.facts(ANN)} == {f"f{n}" for n in range(450)}
    assert await book.forget(ANN) == (450, 0)
    assert await book.facts(ANN) == []


async def test_a_run_s_snapshot_is_one_item_and_runs_are_apart() -> None:
    book = MemoryBook(InMemoryStore(), "ns")
    await book.keep(pending(snapshot("a", run="r1")))
    await book.keep(pending(snapshot("a", "b", run="r1")))
    await book.keep(pending(snapshot("c", run="r2")))
    await book.keep(pending(snapshot("d", run="r1", user="v")))
    found = await book.waiting(Owner("u", "lead"))
    assert sorted([e.user for e in each.pending.snapshot.fresh] for each in found) == [["a", "b"], ["c"]]
    assert len(await book.waiting()) == 3
    await book.drop(found)
    assert [each.pending.snapshot.user for each in await book.waiting()] == ["v"]
    assert await book.forget(Owner("v", "lead")) == (0, 1)


async def test_a_waiting_snapshot_is_replaced_in_its_place() -> None:
    book = MemoryBook(InMemoryStore(), "ns")
    await book.keep(pending(snapshot()))
    (waiting,) = await book.waiting()
    await book.replace(waiting, waiting.pending.model_copy(update={"attempts": 2}))
    assert [(each.key, each.pending.attempts) for each in await book.waiting()] == [(waiting.key, 2)]


async def test_items_that_are_none_of_ours_are_left_alone() -> None:
    store = InMemoryStore()
    book = MemoryBook(store, "ns")
    await book.apply(ANN, Change(put=(TEA,)))
    (item,) = await store.asearch((ROOT, "facts"))
    await store.aput(item.namespace, "odd", {"content": 7})
    assert await book.facts(ANN) == [TEA]
    assert await store.aget(item.namespace, "odd") is not None


async def test_times_come_back_as_they_were() -> None:
    book = MemoryBook(InMemoryStore(), "ns")
    await book.keep(pending(snapshot(minutes=5), due_minutes=7))
    (found,) = await book.waiting()
    assert found.pending.snapshot.time == NOON + timedelta(minutes=5)
    assert found.pending.due == NOON + timedelta(minutes=7)
