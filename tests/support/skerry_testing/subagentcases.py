"""What must hold of subagents over epochs wherever state is kept; told like the cases of `resumecases`."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from skerry_api.phases import OutcomeClass
from skerry_runner.ports import CancelReason
from skerry_runner.sandbox.types import ExecResult
from skerry_testing.fakesandbox import Command
from skerry_testing.resumecases import Keeping, hanging
from skerry_testing.runnerworld import RunnerWorld, document

__all__ = ["SUBAGENT_CASES"]

SIBLINGS = (
    "steps:\n"
    "- toolCalls:\n"
    "  - {name: task, args: {prompt: find A, subagent_type: bash}, id: t1}\n"
    "  - {name: task, args: {prompt: find B, subagent_type: bash}, id: t2}\n"
    "  usage: {input: 1000, output: 1}\n"
    "- {say: done, expect: {contains: [A is here, B is here]}, usage: {input: 1000, output: 1}}\n"
    "- {agent: bash, task: A$, toolCalls: [{name: bash, args: {command: a}}], usage: {input: 1, output: 1}}\n"
    "- {agent: bash, task: A$, say: A is here, usage: {input: 1, output: 1}}\n"
    "- {agent: bash, task: B$, toolCalls: [{name: bash, args: {command: b1}}], usage: {input: 10, output: 1}}\n"
    "- {agent: bash, task: B$, toolCalls: [{name: bash, args: {command: b2}}], usage: {input: 20, output: 1}}\n"
    "- {agent: bash, task: B$, say: B is here, usage: {input: 30, output: 1}}\n"
    "strict: true\n"
)
ENABLED = {"enabled": True}


async def an_epoch_goes_on_where_a_subagent_stood(keeping: Keeping) -> None:
    async with RunnerWorld() as world:
        sibling, running = asyncio.Event(), asyncio.Event()
        hang = hanging(running, "b2")

        async def shell(command: Command) -> ExecResult:
            if command.command == "b1":
                await sibling.wait()
            return await hang(command)

        world.provider.sandbox.shell = shell
        task = asyncio.create_task(world.run(document(SIBLINGS, subagents=ENABLED), **keeping))
        while not any(event["id"] == "t1" for event in world.sink.events("tool.result")):
            await asyncio.sleep(0)
            await world.journal.flush()
        sibling.set()
        await running.wait()
        world.cancellation.request(CancelReason.INTERRUPTED)
        await task
        keys = {command.command: command.key for command in world.provider.sandbox.commands}
        assert keys.keys() == {"a", "b1", "b2"}
        started = {event["call"]: event["id"] for event in world.sink.events("subagent.start")}

    async with RunnerWorld() as after:
        after.provider.sandbox.shell = hanging(asyncio.Event())
        result = await after.run(document(SIBLINGS, epoch=2, subagents=ENABLED), **keeping)
        # With every step of the strict script played, by whichever epoch.
        assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "done"), result
        # What is finished is not done twice; what was interrupted is asked for under its old key.
        again = [(command.command, command.key) for command in after.provider.sandbox.commands]
        assert again == [("b2", keys["b2"])]
        starts = {event["call"]: event["id"] for event in after.sink.events("subagent.start")}
        assert starts.items() <= started.items()
        assert "t2" in starts
        ends = {event["call"]: event for event in after.sink.events("subagent.end")}
        assert ends.keys() == starts.keys()
        assert (ends["t2"]["status"], ends["t2"]["steps"], ends["t2"]["usage"]["input"]) == (
            "completed",
            3,
            60,
        )
        # Counted once, though the lead's own checkpoint is older than what they used.
        assert (result.progress.turn, result.progress.model_calls) == (2, 7)
        assert (result.usage.input, result.usage.subagents, result.usage.total) == (2062, 67, 2069)

    async with RunnerWorld() as late:
        result = await late.run(document(SIBLINGS, epoch=3, subagents=ENABLED), **keeping)
        assert (result.answer, result.usage.subagents, late.sink.events("model.request")) == ("done", 67, [])


async def a_new_epoch_does_not_evade_the_number_of_subagents(keeping: Keeping) -> None:
    one = "{toolCalls: [{name: task, args: {prompt: p, subagent_type: bash}}]}"
    script = f"steps: [{one}, {one}, {{agent: bash, toolCalls: [{{name: bash, args: {{command: make}}}}]}}, {{agent: bash, say: ok}}]"
    limit = {"subagentLimit": {"maxTotal": 1}}
    async with RunnerWorld() as world:
        running = asyncio.Event()
        world.provider.sandbox.shell = hanging(running, "make")
        task = asyncio.create_task(world.run(document(script, subagents=ENABLED, pipeline=limit), **keeping))
        await running.wait()
        world.cancellation.request(CancelReason.INTERRUPTED)
        await task
    async with RunnerWorld() as after:
        after.provider.sandbox.shell = hanging(asyncio.Event())
        result = await after.run(document(script, epoch=2, subagents=ENABLED, pipeline=limit), **keeping)
        assert result.stop_reason == "SubagentCapped", result


SUBAGENT_CASES: tuple[Callable[[Keeping], Awaitable[None]], ...] = (
    an_epoch_goes_on_where_a_subagent_stood,
    a_new_epoch_does_not_evade_the_number_of_subagents,
)
