"""The writer against a port in memory: how many writes, in which order, what each carries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from skerry_api.report import Progress, RunnerStatus, Usage
from skerry_runner.cluster.pace import Pace
from skerry_runner.cluster.port import (
    ApiConflict,
    ApiForbidden,
    ApiRejected,
    ApiUnauthorized,
    ApiUnavailable,
)
from skerry_runner.cluster.report import Report
from skerry_runner.cluster.writer import Refused, StatusWriter
from skerry_testing.eventually import eventually
from skerry_testing.runport import POD_UID, MemoryRunPort

SLOW = Pace(progress=3600, backoff_first=0.001, backoff_most=0.01)
FIRST = Report(RunnerStatus(epoch=1, pod_uid=POD_UID))
PATIENCE = 20


@asynccontextmanager
async def writing(
    port: MemoryRunPort, pace: Pace = SLOW, *, named: bool = True
) -> AsyncIterator[StatusWriter]:
    writer = StatusWriter(port, FIRST, pace, named=lambda: named)
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        task = group.create_task(writer.run())
        yield writer
        task.cancel()


def turn(number: int) -> Report:
    return FIRST.counted(Progress(turn=number), Usage())


def turns(port: MemoryRunPort) -> list[int]:
    return [status["runner"]["progress"]["turn"] for status in port.applied]


async def test_progress_is_paced_and_the_newest_goes_with_the_next_urgent_report() -> None:
    port = MemoryRunPort()
    async with writing(port) as writer:
        for number in range(1, 50):
            writer.update(turn(number))
            await asyncio.sleep(0)
        await writer.deliver(turn(50))
    assert len(port.applied) == 2, "the first at once, then the urgent one"
    assert turns(port)[-1] == 50


async def test_progress_is_written_in_the_end_without_being_urgent() -> None:
    port = MemoryRunPort()
    async with writing(port, Pace(progress=0.05)) as writer:
        for number in range(1, 30):
            writer.update(turn(number))
            await asyncio.sleep(0.001)
        await eventually(lambda: turns(port)[-1:] == [29])
    assert turns(port) == sorted(set(turns(port)))


async def test_what_does_not_change_is_not_written() -> None:
    port = MemoryRunPort()
    async with writing(port, Pace(progress=0)) as writer:
        await writer.deliver(turn(1))
        for _ in range(20):
            writer.update(turn(1))
            await asyncio.sleep(0.001)
    assert len(port.applied) == 1


async def test_faults_that_may_pass_are_outlasted() -> None:
    port = MemoryRunPort()
    port.faults.extend(
        [ApiUnavailable("reset"), ApiConflict("409"), ApiUnavailable("503"), ApiForbidden("early")]
    )
    async with writing(port) as writer:
        await writer.deliver(turn(1))
    assert (port.tries, turns(port)) == (5, [1])


async def test_a_403_is_outlasted_until_status_names_the_pod() -> None:
    port = MemoryRunPort()
    port.admit = False
    named = False
    writer = StatusWriter(
        port, FIRST, Pace(forbidden=0, backoff_first=0.001, backoff_most=0.01), named=lambda: named
    )
    task = asyncio.create_task(writer.run())
    delivery = asyncio.create_task(writer.deliver(turn(1)))
    async with asyncio.timeout(PATIENCE):
        await eventually(lambda: port.tries >= 5)
        assert not delivery.done()
        named = True
        with pytest.raises(Refused):
            await delivery
        port.admit = True
        await writer.deliver(turn(2))
    task.cancel()
    assert turns(port) == [2], "a refusal is not for ever: the next report is tried again"


async def test_a_refusal_for_good_is_told_to_who_waits() -> None:
    port = MemoryRunPort()
    port.faults.append(ApiRejected("422: status.runner.answer: too long"))
    async with writing(port) as writer:
        with pytest.raises(Refused, match="too long"):
            await writer.deliver(turn(1))
        await writer.deliver(turn(2))
    assert turns(port) == [2]


async def test_a_token_that_nobody_knows_any_more_is_told_to_who_waits() -> None:
    port = MemoryRunPort()
    pace = Pace(unauthorized=0.05, backoff_first=0.001, backoff_most=0.01)
    async with writing(port, pace) as writer:
        port.faults.extend(ApiUnauthorized("401: Unauthorized") for _ in range(10_000))
        with pytest.raises(Refused, match="401"):
            await writer.deliver(turn(1))
        port.faults.clear()
        await writer.deliver(turn(2))
    assert turns(port) == [2]


async def test_a_401_after_another_fault_counts_from_itself() -> None:
    port, now = MemoryRunPort(), iter(range(0, 10_000, 40))
    port.faults.extend([ApiUnauthorized(), ApiUnavailable(), ApiUnauthorized(), ApiUnavailable()])
    writer = StatusWriter(port, FIRST, SLOW, named=lambda: True, monotonic=lambda: next(now))
    async with asyncio.timeout(PATIENCE), asyncio.TaskGroup() as group:
        task = group.create_task(writer.run())
        await writer.deliver(turn(1))
        task.cancel()
    assert turns(port) == [1]


async def test_a_delivery_waits_for_the_answer_and_each_try_carries_the_newest() -> None:
    port = MemoryRunPort()
    await port.set_down(True)
    async with writing(port) as writer:
        delivery = asyncio.create_task(writer.deliver(turn(1)))
        await eventually(lambda: port.tries >= 3)
        writer.update(turn(2))
        assert not delivery.done()
        await port.set_down(False)
        await delivery
    assert turns(port) == [2]


async def test_an_urgent_report_does_not_sit_out_a_long_back_off() -> None:
    port = MemoryRunPort()
    port.faults.append(ApiUnavailable("down"))
    async with writing(port, Pace(backoff_first=3600, backoff_most=3600)) as writer:
        writer.update(turn(1))
        await eventually(lambda: port.tries)
        writer.update(turn(2))
        await asyncio.sleep(0.02)
        assert port.tries == 1, "progress sits it out"
        await writer.deliver(turn(3))
    assert turns(port) == [3]
