"""The run's one sandbox, the first call's gate, the counters, the request to stop."""

from __future__ import annotations

import asyncio
import subprocess
import sys

import pytest

from skerry_api.phases import OutcomeClass
from skerry_api.report import Usage
from skerry_runner.firstcall import FirstToolCall
from skerry_runner.outcome import RunEnded
from skerry_runner.ports import Cancellation, CancelReason, SandboxLost
from skerry_runner.sandbox.errors import SandboxUnavailable
from skerry_runner.session import SandboxSession
from skerry_runner.usage import Counts, Tally
from skerry_testing.runnerworld import RunnerWorld


@pytest.fixture
def session(world: RunnerWorld) -> SandboxSession:
    return SandboxSession(world.provider, world.reporter, world.journal)


async def test_many_who_ask_at_once_get_one(world: RunnerWorld, session: SandboxSession) -> None:
    got = await asyncio.gather(*(session.acquire() for _ in range(5)))
    assert {id(sandbox) for sandbox in got} == {id(world.provider.sandbox)}
    assert world.provider.acquired == 1
    assert world.reporter.calls == ["sandbox_acquired sbx-1"]


async def test_who_gives_up_waiting_does_not_spoil_it_for_others(
    world: RunnerWorld, session: SandboxSession
) -> None:
    first, second = (asyncio.create_task(session.acquire()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert await second is world.provider.sandbox
    assert world.provider.acquired == 1


async def test_a_failure_is_not_remembered(world: RunnerWorld, session: SandboxSession) -> None:
    world.provider.failures = [SandboxUnavailable("later"), SandboxLost("never")]
    with pytest.raises(SandboxUnavailable):
        await session.acquire()
    with pytest.raises(RunEnded) as caught:
        await session.acquire()
    assert caught.value.outcome.class_ is OutcomeClass.SANDBOX_LOST
    assert session.last_id is None
    assert await session.acquire() is world.provider.sandbox


async def test_the_last_holder_lets_go(world: RunnerWorld, session: SandboxSession) -> None:
    async with session.hold():
        async with session.hold():
            await session.acquire()
            await session.leave()
            assert world.provider.released == 0
        assert world.provider.released == 0
        await session.leave()
        assert world.provider.released == 1
    assert (world.provider.released, session.last_id) == (1, "sbx-1")


async def test_a_holder_that_fails_lets_go_too(world: RunnerWorld, session: SandboxSession) -> None:
    async def fail() -> None:
        async with session.hold():
            await session.acquire()
            raise KeyError

    with pytest.raises(KeyError):
        await fail()
    assert world.provider.released == 1
    await world.journal.flush()
    assert [e["type"] for e in world.sink.events()] == ["sandbox.acquired", "sandbox.released"]


async def test_the_gate_reports_once_and_again_after_a_failure() -> None:
    reports: list[int] = []

    async def report() -> None:
        await asyncio.sleep(0)
        reports.append(1)
        if len(reports) == 1:
            raise ConnectionError

    gate = FirstToolCall(report)
    results = await asyncio.gather(*(gate.passed() for _ in range(4)), return_exceptions=True)
    assert [type(result) for result in results] == [ConnectionError, type(None), type(None), type(None)]
    assert len(reports) == 2


def test_counters_tell_of_changes_only() -> None:
    told: list[Counts] = []
    tally = Tally(told.append)
    tally.seed(Counts())
    tally.seed(Counts(turns=2, input=10, total=10))
    tally.turn(3)
    tally.turn(3)
    tally.model_call()
    tally.tokens(Usage(input=1, output=2, total=3))
    tally.tokens(Usage())
    tally.tool_call()
    assert len(told) == 5
    assert told[-1] == Counts(turns=3, model_calls=1, input=11, output=2, total=13, tool_calls=1)
    assert told[-1].progress().turn == 3
    assert told[-1].usage() == Usage(input=11, output=2, total=13)


async def test_the_first_request_to_stop_wins() -> None:
    cancellation = Cancellation()
    assert cancellation.reason is None
    cancellation.request(CancelReason.INTERRUPTED)
    cancellation.request(CancelReason.CANCELLED)
    assert await cancellation.wait() is CancelReason.INTERRUPTED


@pytest.mark.parametrize(
    "module", ["skerry_runner", "skerry_runner.ports", "skerry_runner.run", "skerry_runner.journal"]
)
def test_what_every_edge_imports_is_light(module: str) -> None:
    check = f"import sys, {module}; heavy = [m for m in ('langchain', 'langchain_core', 'langgraph', 'openai', 'kubernetes') if m in sys.modules]; assert not heavy, heavy"
    subprocess.run([sys.executable, "-c", check], check=True)
