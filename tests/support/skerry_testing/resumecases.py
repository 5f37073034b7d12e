"""What must hold of runs and epochs wherever state is kept: each case is one story, told twice or thrice to a place."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from skerry_api.document import RunDocument
from skerry_api.phases import OutcomeClass, StopReason
from skerry_runner.ports import CancelReason, RunResult
from skerry_runner.sandbox.types import ExecResult
from skerry_testing.fakesandbox import Command, printed
from skerry_testing.runnerworld import RunnerWorld, document

__all__ = ["RESUME_CASES", "Keeping", "interrupted"]

Keeping = dict[str, Any]
"""Arguments of `run_document` that say where state is kept."""


async def interrupted(
    world: RunnerWorld, what: RunDocument, keeping: Keeping, at: asyncio.Event
) -> RunResult:
    """Run until `at`, then as if the Pod went."""
    task = asyncio.create_task(world.run(what, **keeping))
    await at.wait()
    world.cancellation.request(CancelReason.INTERRUPTED)
    return await task


def hanging(running: asyncio.Event, *commands: str) -> Callable[[Command], Awaitable[ExecResult]]:
    """A shell in which these commands never end, all others at once."""

    async def shell(command: Command) -> ExecResult:
        if command.command not in commands:
            return printed(f"did {command.command}\n")
        running.set()
        await asyncio.Event().wait()
        raise AssertionError

    return shell


async def a_thread_goes_on_with_counters_of_its_own(keeping: Keeping) -> None:
    async with RunnerWorld() as world:
        await world.run(document("steps: [{say: one}]"), **keeping)
    script = "steps: [{expect: {contains: ['ai: one', 'human: And now']}, say: two}]"
    async with RunnerWorld() as world:
        again = document(script, run="run-uid-2", prompt="And now?", max_turns=1)
        result = await world.run(again, **keeping)
    assert (result.answer, result.stop_reason, result.progress.turn) == ("two", StopReason.END_TURN, 1)


async def another_thread_knows_nothing_of_it(keeping: Keeping) -> None:
    async with RunnerWorld() as world:
        await world.run(document("steps: [{say: one}]"), **keeping)
        other = document(
            "steps: [{expect: {absent: ['ai: one']}, say: two}]", run="run-uid-2", thread="other"
        )
        assert (await world.run(other, **keeping)).answer == "two"


async def a_new_epoch_goes_on_from_the_last_checkpoint(keeping: Keeping) -> None:
    script = (
        "steps:\n- {say: first, toolCalls: [{name: ls}], usage: {input: 10, output: 1}}\n"
        "- {toolCalls: [{name: bash, args: {command: make}}], usage: {input: 20, output: 2}}\n"
        "- {expect: {contains: ['bash .success.: did make'], lastRole: tool}, say: made, usage: {input: 30, output: 3}}\n"
    )
    async with RunnerWorld() as world:
        running = asyncio.Event()
        world.provider.sandbox.shell = hanging(running, "make")
        assert (await interrupted(world, document(script), keeping, running)).progress.turn == 2

    async with RunnerWorld() as after:
        after.provider.sandbox.shell = hanging(asyncio.Event())
        result = await after.run(document(script, epoch=2), **keeping)
        assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "made")
        assert (result.progress.turn, result.progress.model_calls, result.progress.tool_calls) == (3, 3, 1)
        assert (result.usage.input, result.usage.output) == (60, 6)
        assert after.reporter.calls == ["started", "first_tool_call 1", "sandbox_acquired sbx-1", "ended"]
        made = [command.key for command in world.provider.sandbox.commands]
        assert [command.key for command in after.provider.sandbox.commands] == made
        assert after.sink.events("script.unused") == []

    async with RunnerWorld() as late:
        result = await late.run(document(script, epoch=3), **keeping)
        assert (result.answer, late.sink.events("model.request")) == ("made", [])


async def a_call_that_has_ended_is_not_made_again(keeping: Keeping) -> None:
    script = (
        "steps:\n- toolCalls:\n  - {name: bash, args: {command: quick}, id: a}\n"
        "  - {name: bash, args: {command: slow}, id: b}\n"
        "- {expect: {contains: ['did quick', 'did slow']}, say: both}\n"
    )
    async with RunnerWorld() as world:
        quick, slow = asyncio.Event(), asyncio.Event()
        hang = hanging(slow, "slow")

        async def shell(command: Command) -> ExecResult:
            if command.command == "slow":
                await quick.wait()
            return await hang(command)

        world.provider.sandbox.shell = shell
        task = asyncio.create_task(world.run(document(script), **keeping))
        while not world.sink.events("tool.result"):
            await asyncio.sleep(0)
            await world.journal.flush()
        quick.set()
        await slow.wait()
        world.cancellation.request(CancelReason.INTERRUPTED)
        await task
        keys = {command.command: command.key for command in world.provider.sandbox.commands}
        assert keys.keys() == {"quick", "slow"}

    async with RunnerWorld() as after:
        after.provider.sandbox.shell = hanging(asyncio.Event())
        result = await after.run(document(script, epoch=2), **keeping)
        assert (result.answer, result.progress.turn) == ("both", 2), result
        again = [(command.command, command.key) for command in after.provider.sandbox.commands]
        assert again == [("slow", keys["slow"])]


async def a_new_epoch_does_not_evade_the_turn_limit(keeping: Keeping) -> None:
    script = "steps: [{toolCalls: [{name: ls}]}, {say: late, delaySeconds: 3600}]"
    async with RunnerWorld() as world:
        task = asyncio.create_task(world.run(document(script, max_turns=2), **keeping))
        await world.reporter.until(lambda progress: progress.model_calls == 2)
        world.cancellation.request(CancelReason.INTERRUPTED)
        await task
    async with RunnerWorld() as after:
        again = "steps: [{toolCalls: [{name: ls}]}, {toolCalls: [{name: ls}]}]"
        result = await after.run(document(again, max_turns=2, epoch=2), **keeping)
        assert (result.stop_reason, result.progress.turn) == (StopReason.TURN_CAPPED, 2)


async def the_thread_of_a_run_that_was_stopped_goes_on(keeping: Keeping) -> None:
    async with RunnerWorld() as world:
        running = asyncio.Event()
        world.provider.sandbox.shell = hanging(running, "make")
        script = "steps: [{toolCalls: [{name: bash, args: {command: make}}]}]"
        await interrupted(world, document(script), keeping, running)
    script = "steps: [{expect: {contains: ['human: Please do it', 'call bash', 'human: Again']}, say: well}]"
    async with RunnerWorld() as after:
        result = await after.run(document(script, run="run-uid-2", prompt="Again."), **keeping)
        assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "well")
        assert after.provider.sandbox.commands == []


async def a_run_that_has_acted_does_not_begin_anew(keeping: Keeping) -> None:
    """Whoever took away what earlier epochs kept: no command of theirs runs twice, and no question is asked again."""
    script = "steps: [{toolCalls: [{name: bash, args: {command: make}}]}, {say: made}]"
    async with RunnerWorld() as world:
        # Another run's state is in the thread, this one's is not.
        await world.run(document("steps: [{say: hi}]", run="run-uid-0"), **keeping)
    async with RunnerWorld() as after:
        lost = document(script, epoch=2).model_copy(update={"resume": True})
        result = await after.run(lost, **keeping)
        assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.APP_ERROR, "StateGone")
        assert after.provider.sandbox.commands == []
        assert after.sink.events("model.request") == []


async def a_run_that_has_acted_goes_on_where_its_state_is(keeping: Keeping) -> None:
    script = "steps: [{toolCalls: [{name: bash, args: {command: make}}]}, {say: made}]"
    async with RunnerWorld() as world:
        running = asyncio.Event()
        world.provider.sandbox.shell = hanging(running, "make")
        await interrupted(world, document(script), keeping, running)
    async with RunnerWorld() as after:
        after.provider.sandbox.shell = hanging(asyncio.Event())
        again = document(script, epoch=2).model_copy(update={"resume": True})
        assert (await after.run(again, **keeping)).answer == "made"


RESUME_CASES: tuple[Callable[[Keeping], Awaitable[None]], ...] = (
    a_thread_goes_on_with_counters_of_its_own,
    another_thread_knows_nothing_of_it,
    a_new_epoch_goes_on_from_the_last_checkpoint,
    a_call_that_has_ended_is_not_made_again,
    a_new_epoch_does_not_evade_the_turn_limit,
    the_thread_of_a_run_that_was_stopped_goes_on,
    a_run_that_has_acted_does_not_begin_anew,
    a_run_that_has_acted_goes_on_where_its_state_is,
)
