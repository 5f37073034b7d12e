"""What limits a run, over epochs and wherever state is kept: nobody evades it by starting again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from skerry_api.document import RunDocument
from skerry_api.phases import OutcomeClass, StopReason
from skerry_runner.ports import CancelReason
from skerry_testing.resumecases import Keeping
from skerry_testing.runnerworld import RunnerWorld, document

__all__ = ["CAP_CASES"]

LOOK = "{say: looking, toolCalls: [{name: ls}], usage: {input: 60, output: 40}}"
LATE = "{say: late, delaySeconds: 3600}"
DONE = "{say: done, usage: {input: 60, output: 40}}"
MICRO_EACH = (1_000_000, 1_000_000)
"""A micro-dollar for each token."""


async def _stopped_in_call(what: RunDocument, keeping: Keeping, number: int) -> None:
    """Run until the model is called for the nth time, then as if the Pod went."""
    async with RunnerWorld() as world:
        task = asyncio.create_task(world.run(what, **keeping))
        await world.reporter.until(lambda progress: progress.model_calls == number)
        world.cancellation.request(CancelReason.INTERRUPTED)
        await task


async def tokens_go_on_counting(keeping: Keeping) -> None:
    await _stopped_in_call(document(f"steps: [{LOOK}, {LATE}]"), keeping, 2)
    async with RunnerWorld() as after:
        result = await after.run(
            document(f"steps: [{LOOK}, {LOOK}, {DONE}]", epoch=2, max_tokens=200), **keeping
        )
        assert (result.outcome.class_, result.stop_reason) == (
            OutcomeClass.SUCCEEDED,
            StopReason.TOKEN_CAPPED,
        )
        assert result.usage.total == 200


async def money_goes_on_counting(keeping: Keeping) -> None:
    await _stopped_in_call(document(f"steps: [{LOOK}, {LATE}]", price=MICRO_EACH), keeping, 2)
    async with RunnerWorld() as after:
        again = document(f"steps: [{LOOK}, {LOOK}, {DONE}]", epoch=2, max_cost=200, price=MICRO_EACH)
        result = await after.run(again, **keeping)
        assert (result.outcome.class_, result.usage.cost_micro_usd) == (OutcomeClass.BUDGET_EXCEEDED, 200)


async def another_run_has_a_budget_of_its_own(keeping: Keeping) -> None:
    async with RunnerWorld() as world:
        capped = await world.run(document(f"steps: [{LOOK}, {LOOK}]", max_tokens=150), **keeping)
        assert capped.stop_reason is StopReason.TOKEN_CAPPED
    async with RunnerWorld() as after:
        again = document(f"steps: [{LOOK}, {DONE}]", run="run-uid-2", max_tokens=150)
        result = await after.run(again, **keeping)
        assert (result.stop_reason, result.usage.total) == (StopReason.END_TURN, 200)


async def loops_go_on_counting_and_are_warned_of_once(keeping: Keeping) -> None:
    await _stopped_in_call(document(f"steps: [{LOOK}, {LOOK}, {LOOK}, {LATE}]"), keeping, 4)
    async with RunnerWorld() as after:
        result = await after.run(document(f"steps: [{', '.join([LOOK] * 5)}]", epoch=2), **keeping)
        assert (result.stop_reason, result.progress.turn) == (StopReason.LOOP_CAPPED, 5)
        # The epoch before was told.
        assert after.sink.events("loop.warning") == []
    async with RunnerWorld() as other:
        script = f"steps: [{', '.join([LOOK] * 4)}, {DONE}]"
        result = await other.run(document(script, run="run-uid-2"), **keeping)
        assert (result.answer, len(other.sink.events("loop.warning"))) == ("done", 1)


async def a_reminder_of_open_todos_is_not_lost_with_its_process(keeping: Keeping) -> None:
    plan = {"todoList": {"enabled": True}}
    todos = "{name: write_todos, args: {todos: [{content: write, status: pending}]}}"
    early = f"{{toolCalls: [{todos}]}}, {{say: early}}"
    await _stopped_in_call(document(f"steps: [{early}, {LATE}]", pipeline=plan), keeping, 3)
    told = "{expect: {contains: ['human: You were about to end with these todos open'], lastRole: human}, say: late}"
    async with RunnerWorld() as after:
        # Another script is played from its first step.
        again = document(f"steps: [{told}, {told}]", epoch=2, pipeline=plan)
        result = await after.run(again, **keeping)
        # Put off twice in all, once by each process.
        assert (result.outcome.message, result.answer, result.progress.turn) == ("", "late", 4)


async def a_thread_keeps_its_title(keeping: Keeping) -> None:
    async with RunnerWorld() as world:
        await world.run(document(prompt="How is the weather?"), **keeping)
    async with RunnerWorld() as after:
        result = await after.run(document("steps: [{error: {status: 401}}]", run="run-uid-2"), **keeping)
        assert (result.progress.title, after.sink.events("title")) == ("How is the weather?", [])


CAP_CASES: tuple[Callable[[Keeping], Awaitable[None]], ...] = (
    tokens_go_on_counting,
    money_goes_on_counting,
    another_run_has_a_budget_of_its_own,
    loops_go_on_counting_and_are_warned_of_once,
    a_reminder_of_open_todos_is_not_lost_with_its_process,
    a_thread_keeps_its_title,
)
