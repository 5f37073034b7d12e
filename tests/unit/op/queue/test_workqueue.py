"""The work queue: one worker per key, nothing lost, nothing twice, time by hand."""

from __future__ import annotations

import asyncio
from itertools import cycle

import pytest

from skerry_operator.queue.backoff import Backoff
from skerry_operator.queue.workqueue import QueueClosed, WorkQueue
from skerry_testing.fakeclock import FakeClock, settle


class Heard:
    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []

    def added(self, key: str) -> None:
        self.lines.append(("added", key))

    def taken(self, key: str, waited: float) -> None:
        self.lines.append((f"taken {waited:g}", key))

    def retried(self, key: str) -> None:
        self.lines.append(("retried", key))


def make(clock: FakeClock, heard: Heard | None = None) -> WorkQueue[str]:
    backoff: Backoff[str] = Backoff(base=1.0, cap=8.0, random=lambda: 0.999)
    return WorkQueue(clock, backoff, lambda key: key.partition("/")[0], heard)


async def take(queue: WorkQueue[str]) -> str:
    return await asyncio.wait_for(queue.get(), 5)


async def test_a_key_added_often_is_given_out_once() -> None:
    queue = make(FakeClock())
    for _ in range(5):
        queue.add("a/1")
    assert queue.depth == 1
    assert await take(queue) == "a/1"
    queue.done("a/1")
    assert queue.depth == 0


async def test_a_key_added_while_it_is_worked_on_comes_again_only_afterwards() -> None:
    queue = make(FakeClock())
    queue.add("a/1")
    assert await take(queue) == "a/1"
    queue.add("a/1")
    queue.add("a/1")
    waiting = asyncio.create_task(queue.get())
    await settle()
    assert not waiting.done()
    assert queue.processing == {"a/1"}
    queue.done("a/1")
    assert await asyncio.wait_for(waiting, 5) == "a/1"
    queue.done("a/1")
    assert queue.depth == 0


async def test_lanes_take_turns() -> None:
    queue = make(FakeClock())
    for key in ("a/1", "a/2", "a/3", "b/1", "c/1", "b/2"):
        queue.add(key)
    assert [await take(queue) for _ in range(6)] == ["a/1", "b/1", "c/1", "a/2", "b/2", "a/3"]


async def test_of_several_delays_the_earliest_stands() -> None:
    clock = FakeClock()
    queue = make(clock)
    queue.add_after("a/1", 10)
    queue.add_after("a/1", 5)
    queue.add_after("a/1", 20)
    assert queue.delayed == 1
    await clock.advance(4.9)
    assert queue.depth == 0
    await clock.advance(0.2)
    assert queue.depth == 1
    await take(queue)
    queue.done("a/1")
    await clock.advance(100)
    assert (queue.depth, queue.delayed) == (0, 0)


async def test_timers_of_many_keys_fire_in_order() -> None:
    clock = FakeClock()
    queue = make(clock)
    for delay, key in ((3, "a/3"), (1, "a/1"), (2, "a/2")):
        queue.add_after(key, delay)
    await clock.advance(10)
    assert [await take(queue) for _ in range(3)] == ["a/1", "a/2", "a/3"]


async def test_a_delay_that_has_passed_is_now() -> None:
    queue = make(FakeClock())
    queue.add_after("a/1", -3)
    assert queue.depth == 1


async def test_back_off_doubles_up_to_its_cap_and_is_forgotten_on_success() -> None:
    clock = FakeClock()
    queue = make(clock)
    delays = [queue.retry("a/1") for _ in range(6)]
    assert [round(delay) for delay in delays] == [1, 2, 4, 8, 8, 8]
    assert queue.failures("a/1") == 6
    queue.forget("a/1")
    assert round(queue.retry("a/1")) == 1
    assert queue.retry("b/1", at_least=7.0) == 7.0


def test_jitter_stays_in_the_upper_half() -> None:
    source = cycle([0.0, 0.5, 0.999])
    backoff: Backoff[str] = Backoff(base=4.0, cap=4.0, random=lambda: next(source))
    assert [round(backoff.next("k"), 2) for _ in range(3)] == [2.0, 3.0, 4.0]
    for _ in range(2000):
        assert backoff.next("k") <= 4.0


async def test_age_and_observer() -> None:
    clock, heard = FakeClock(), Heard()
    queue = make(clock, heard)
    assert queue.age() == 0.0
    queue.add("a/1")
    await clock.advance(2)
    queue.add("b/1")
    await clock.advance(1)
    assert queue.age() == 3.0
    await take(queue)
    assert queue.age() == 1.0
    queue.retry("a/1")
    assert heard.lines == [("added", "a/1"), ("added", "b/1"), ("taken 3", "a/1"), ("retried", "a/1")]


async def test_a_cancelled_waiter_does_not_swallow_a_key() -> None:
    queue = make(FakeClock())
    first, second = asyncio.create_task(queue.get()), asyncio.create_task(queue.get())
    await settle()
    queue.add("a/1")
    first.cancel()
    assert await asyncio.wait_for(second, 5) == "a/1"
    assert first.cancelled() or first.done()


async def test_closing_lets_all_waiters_go_and_takes_nothing_more() -> None:
    queue = make(FakeClock())
    waiters = [asyncio.create_task(queue.get()) for _ in range(3)]
    await settle()
    queue.close()
    results = await asyncio.gather(*waiters, return_exceptions=True)
    assert [type(each) for each in results] == [QueueClosed] * 3
    queue.add("a/1")
    queue.add_after("a/2", 1)
    assert (queue.depth, queue.delayed) == (0, 0)
    with pytest.raises(QueueClosed):
        await queue.get()


async def test_many_workers_never_share_a_key_and_lose_none() -> None:
    queue = make(FakeClock())
    busy: set[str] = set()
    counts: dict[str, int] = {}

    async def work() -> None:
        while True:
            key = await queue.get()
            assert key not in busy
            busy.add(key)
            counts[key] = counts.get(key, 0) + 1
            await asyncio.sleep(0)
            busy.discard(key)
            queue.done(key)

    workers = [asyncio.create_task(work()) for _ in range(8)]
    for turn in range(20):
        for number in range(10):
            queue.add(f"{number % 3}/{number}")
        await asyncio.sleep(0 if turn % 2 else 0.001)
    await settle()
    assert queue.depth == 0
    assert not queue.processing
    assert set(counts) == {f"{number % 3}/{number}" for number in range(10)}
    for worker in workers:
        worker.cancel()
    await asyncio.gather(*workers, return_exceptions=True)
