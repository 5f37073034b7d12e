"""The queue: one write per key however many come, nothing lost when a write fails, nobody waits in enqueue."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field

import pytest

from skerry_runner.memory.queue import MemoryQueue
from skerry_runner.memory.snapshot import Snapshot
from skerry_testing.memories import snapshot

LONG = 60.0


@dataclass
class Pen:
    """Writes down what it is given; `gate` holds it back, `broken` keys are refused."""

    written: list[Snapshot] = field(default_factory=list)
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    broken: set[str] = field(default_factory=set)

    async def write(self, what: Snapshot) -> None:
        self.begun.set()
        await self.gate.wait()
        if what.thread in self.broken:
            raise ConnectionError(what.thread)
        self.written.append(what)


@pytest.fixture
async def pen() -> Pen:
    made = Pen()
    made.gate.set()
    return made


async def test_a_thousand_of_ten_threads_are_ten_writes(pen: Pen) -> None:
    queue = MemoryQueue(pen.write)
    depths = [
        queue.enqueue(snapshot(f"m{n}", thread=f"t{n % 10}", run=f"r{n}", minutes=n)) for n in range(1000)
    ]
    assert (depths[0], max(depths)) == (1, 10)
    assert await queue.settle(LONG) is None
    assert [(each.thread, each.run) for each in pen.written] == [(f"t{n}", f"r{990 + n}") for n in range(10)]
    # Fifty exchanges of a thread's hundred fit; the newest stand last.
    assert {len(each.fresh) for each in pen.written} == {50}
    assert pen.written[3].fresh[-1].user == "m993"
    assert queue.waiting() == ()


async def test_flags_add_up_over_a_thousand(pen: Pen) -> None:
    queue = MemoryQueue(pen.write)
    for n in range(1000):
        queue.enqueue(snapshot("x", run="r", minutes=n, correction=n == 17, reinforcement=n == 500))
    await queue.settle(LONG)
    (only,) = pen.written
    assert (only.correction, only.reinforcement) == (True, True)


async def test_keys_are_thread_user_and_agent(pen: Pen) -> None:
    queue = MemoryQueue(pen.write)
    others = (snapshot(thread="t2"), snapshot(user="u2"), snapshot(agent="coder"))
    for each in (snapshot(), *others, snapshot()):
        queue.enqueue(each)
    await queue.settle(LONG)
    assert len(pen.written) == 4


async def test_enqueue_waits_for_no_write_and_its_snapshot_is_written_in_the_same_turn(pen: Pen) -> None:
    pen.gate.clear()
    queue = MemoryQueue(pen.write)
    queue.enqueue(snapshot("first"))
    turn = asyncio.create_task(queue.settle(LONG))
    await pen.begun.wait()
    # The writer is in the middle of it; whoever took a lock across it would hang here.
    for n in range(100):
        queue.enqueue(snapshot("later", run="r2", minutes=n + 1))
    assert [len(each.fresh) for each in queue.waiting()] == [1]
    assert await queue.settle(LONG) is None, "of two at a time, one writes"
    assert pen.written == []
    pen.gate.set()
    await turn
    assert [[e.user for e in each.fresh] for each in pen.written] == [["first"], ["later"]]


async def test_threads_may_enqueue_at_once(pen: Pen) -> None:
    queue = MemoryQueue(pen.write)

    def work(name: int) -> None:
        for n in range(100):
            queue.enqueue(snapshot(f"{name}/{n}", thread=f"t{n}", run=f"r{name}", minutes=name))

    workers = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        await asyncio.to_thread(worker.join)
    await queue.settle(LONG)
    assert len(pen.written) == 100
    assert {each.run for each in pen.written} == {"r7"}
    assert {len(each.fresh) for each in pen.written} == {8}


async def test_what_could_not_be_written_waits_and_the_others_are_written(pen: Pen) -> None:
    pen.broken = {"bad"}
    queue = MemoryQueue(pen.write)
    queue.enqueue(snapshot("a", thread="bad"))
    queue.enqueue(snapshot("b", thread="good"))
    error = await queue.settle(LONG)
    assert isinstance(error, ConnectionError)
    assert [each.thread for each in pen.written] == ["good"]
    queue.enqueue(snapshot("c", thread="bad", run="r2", minutes=1))
    pen.broken = set()
    assert await queue.settle(LONG) is None
    assert [e.user for e in pen.written[-1].fresh] == ["a", "c"]


async def test_a_store_that_hangs_ends_the_turn_and_loses_nothing(pen: Pen) -> None:
    pen.gate.clear()
    queue = MemoryQueue(pen.write)
    queue.enqueue(snapshot("a"))
    assert isinstance(await queue.settle(0.01), TimeoutError)
    assert [e.user for each in queue.waiting() for e in each.fresh] == ["a"]
    pen.gate.set()
    assert await queue.settle(LONG) is None
    assert len(pen.written) == 1


async def test_a_turn_that_is_cancelled_loses_nothing(pen: Pen) -> None:
    pen.gate.clear()
    queue = MemoryQueue(pen.write)
    queue.enqueue(snapshot("a"))
    turn = asyncio.create_task(queue.settle(LONG))
    await pen.begun.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    pen.gate.set()
    assert await queue.settle(LONG) is None
    assert len(pen.written) == 1
