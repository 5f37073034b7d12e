"""A thread's next run, and a run's next epoch: what goes on and what begins anew."""

from __future__ import annotations

import asyncio

from skerry_api.phases import OutcomeClass, StopReason
from skerry_runner.checkpoint import memory_saver
from skerry_runner.ports import CancelReason
from skerry_runner.sandbox.types import ExecResult
from skerry_testing.fakesandbox import Command
from skerry_testing.runnerworld import RunnerWorld, document


async def test_a_thread_goes_on_with_the_messages_and_counters_of_its_own(world: RunnerWorld) -> None:
    saver = memory_saver()
    await world.run(document("steps: [{say: one}]"), checkpointer=saver)
    script = "steps: [{expect: {contains: ['ai: one', 'human: And now']}, say: two}]"
    result = await world.run(
        document(script, run="run-uid-2", prompt="And now?", max_turns=1), checkpointer=saver
    )
    assert (result.answer, result.stop_reason, result.progress.turn) == ("two", StopReason.END_TURN, 1)


async def test_a_new_epoch_goes_on_from_the_last_checkpoint(world: RunnerWorld) -> None:
    saver, running = memory_saver(), asyncio.Event()

    async def hang(_: Command) -> ExecResult:
        running.set()
        await asyncio.Event().wait()
        raise AssertionError

    script = (
        "steps:\n- {say: first, toolCalls: [{name: ls}], usage: {input: 10, output: 1}}\n"
        "- {toolCalls: [{name: bash, args: {command: make}}], usage: {input: 20, output: 2}}\n"
        "- {expect: {contains: ['bash .success.: make'], lastRole: tool}, say: made, usage: {input: 30, output: 3}}\n"
    )
    world.provider.sandbox.shell = hang
    task = asyncio.create_task(world.run(document(script), checkpointer=saver))
    await running.wait()
    world.cancellation.request(CancelReason.INTERRUPTED)
    assert (await task).progress.turn == 2

    async with RunnerWorld() as after:
        result = await after.run(document(script, epoch=2), checkpointer=saver)
        assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "made")
        assert (result.progress.turn, result.progress.model_calls, result.progress.tool_calls) == (3, 3, 1)
        assert (result.usage.input, result.usage.output) == (60, 6)
        assert after.reporter.calls == ["started", "first_tool_call 1", "sandbox_acquired sbx-1", "ended"]
        assert [c.key for c in after.provider.sandbox.commands] == [
            c.key for c in world.provider.sandbox.commands
        ]
        assert after.sink.events("script.unused") == []

    async with RunnerWorld() as late:
        result = await late.run(document(script, epoch=3), checkpointer=saver)
        assert (result.answer, late.sink.events("model.request")) == ("made", [])


async def test_a_new_epoch_does_not_evade_the_turn_limit(world: RunnerWorld) -> None:
    saver = memory_saver()
    script = "steps: [{toolCalls: [{name: ls}]}, {say: late, delaySeconds: 3600}]"
    task = asyncio.create_task(world.run(document(script, max_turns=2), checkpointer=saver))
    await world.reporter.until(lambda progress: progress.model_calls == 2)
    world.cancellation.request(CancelReason.INTERRUPTED)
    await task
    async with RunnerWorld() as after:
        again = "steps: [{toolCalls: [{name: ls}]}, {toolCalls: [{name: ls}]}]"
        result = await after.run(document(again, max_turns=2, epoch=2), checkpointer=saver)
        assert (result.stop_reason, result.progress.turn) == (StopReason.TURN_CAPPED, 2)
