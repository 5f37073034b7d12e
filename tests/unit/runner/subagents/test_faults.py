"""A subagent whose model fails, and what an epoch finds of subagents that a former one left behind."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from skerry_api.document import RunDocument
from skerry_api.phases import OutcomeClass
from skerry_runner.checkpoint import memory_saver
from skerry_runner.ports import CancelReason
from skerry_runner.sandbox.types import ExecResult
from skerry_testing.eventually import eventually_true
from skerry_testing.fakesandbox import Command, printed
from skerry_testing.runnerworld import RunnerWorld, document

THREAD = "ns\nuser\nthread-1"
ONE = "- {toolCalls: [{name: task, args: {prompt: find A, subagent_type: bash}, id: t1}]}\n"


def delegating(steps: str, **given: Any) -> RunDocument:
    return document("steps:\n" + steps, subagents={"enabled": True}, **given)


async def test_a_model_s_error_is_the_subagent_s(world: RunnerWorld) -> None:
    steps = ONE + (
        "- {say: done, expect: {contains: ['the subagent failed .AuthenticationFailed.']}}\n"
        "- {agent: bash, error: {status: 401}}"
    )
    result = await world.run(delegating(steps))
    assert result.answer == "done", result.outcome
    (end,) = world.sink.events("subagent.end")
    assert (end["status"], end["reason"]) == ("failed", "AuthenticationFailed")


async def test_its_calls_are_tried_again_as_its_own(world: RunnerWorld) -> None:
    steps = ONE + "- {say: done}\n- {agent: bash, error: {status: 503}}\n- {agent: bash, say: ok}"
    result = await world.run(delegating(steps))
    assert result.answer == "done", result.outcome
    assert [retry["agent"] for retry in world.sink.events("llm.retry")] == ["bash"]


async def test_an_endpoint_that_is_down_for_one_is_down_for_all(world: RunnerWorld) -> None:
    steps = ONE + "- {say: never}\n- {agent: bash, error: {status: 503}}"
    settings = {"llmErrorHandling": {"maxAttempts": 1, "circuit": {"failures": 1, "openSeconds": 60}}}
    result = await world.run(delegating(steps, pipeline=settings))
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.MODEL_ERROR, "CircuitOpen")
    assert [(event["agent"], event["state"]) for event in world.sink.events("llm.circuit")] == [
        ("bash", "open")
    ]


async def test_a_fault_of_ours_is_told_and_no_more(
    world: RunnerWorld, caplog: pytest.LogCaptureFixture
) -> None:
    class BrokenError(Exception):
        pass

    async def refuse(_: Command) -> ExecResult:
        raise AssertionError

    world.provider.sandbox.shell = refuse
    broken = {"name": "poet", "description": "Writes.", "tools": []}
    steps = (
        "- {toolCalls: [{name: task, args: {prompt: x, subagent_type: poet}, id: t1}]}\n"
        "- {say: done}\n- {agent: poet, toolCalls: [{name: bash, args: {command: x}}]}\n- {agent: poet, say: ok}"
    )
    result = await world.run(document("steps:\n" + steps, subagents={"enabled": True, "types": [broken]}))
    # It has no tools at all: what it calls is an error that it hears of.
    assert result.answer == "done", result.outcome
    assert world.provider.sandbox.commands == []
    assert caplog.records == []


SIBLINGS = (
    "- toolCalls:\n"
    "  - {name: task, args: {prompt: find A, subagent_type: bash}, id: t1}\n"
    "  - {name: task, args: {prompt: find B, subagent_type: bash}, id: t2}\n"
    "- {say: done, expect: {contains: [A is here, B is here]}}\n"
    "- {agent: bash, task: A$, toolCalls: [{name: bash, args: {command: a}}], usage: {input: 1, output: 1}}\n"
    "- {agent: bash, task: A$, say: A is here, usage: {input: 1, output: 1}}\n"
    "- {agent: bash, task: B$, toolCalls: [{name: bash, args: {command: b1}}], usage: {input: 10, output: 1}}\n"
    "- {agent: bash, task: B$, toolCalls: [{name: bash, args: {command: b2}}], usage: {input: 20, output: 1}}\n"
    "- {agent: bash, task: B$, say: B is here, usage: {input: 30, output: 1}}\n"
    "strict: true\n"
)


async def kept_result(saver: Any) -> bool:
    """Whether the finished sibling's result is kept: the lead's step that it belongs to is not over."""
    items = [item async for item in saver.alist({"configurable": {"thread_id": THREAD, "checkpoint_ns": ""}})]
    written = [value for item in items for _, channel, value in item.pending_writes if channel == "messages"]
    return any("A is here" in str(value) for value in written)


async def test_an_epoch_goes_on_where_a_subagent_stood(world: RunnerWorld) -> None:
    saver, running = memory_saver(), asyncio.Event()

    async def hang(command: Command) -> ExecResult:
        if command.command != "b2":
            return printed("ok")
        running.set()
        await asyncio.Event().wait()
        raise AssertionError

    world.provider.sandbox.shell = hang
    task = asyncio.create_task(world.run(delegating(SIBLINGS), checkpointer=saver))
    await running.wait()
    await eventually_true(partial(kept_result, saver), within=60)
    world.cancellation.request(CancelReason.INTERRUPTED)
    await task

    async with RunnerWorld() as after:
        result = await after.run(delegating(SIBLINGS, epoch=2), checkpointer=saver)
        assert result.answer == "done", result.outcome
        assert result.outcome.class_ is OutcomeClass.SUCCEEDED
        before, now = world.provider.sandbox.commands, after.provider.sandbox.commands
        # The finished sibling is not asked again, nor is the finished command; the interrupted one has its old key.
        assert sorted(command.command for command in before) == ["a", "b1", "b2"]
        assert [(command.command, command.key) for command in now] == [
            (command.command, command.key) for command in before if command.command == "b2"
        ]
        (start,) = after.sink.events("subagent.start")
        assert (start["call"], start["id"]) in {
            (event["call"], event["id"]) for event in world.sink.events("subagent.start")
        }
        (end,) = after.sink.events("subagent.end")
        assert (end["status"], end["steps"], end["usage"]["input"]) == ("completed", 3, 60)
        assert after.sink.events("script.unused") == []
        # What the subagents had used counts on, though the lead's own checkpoint is older.
        assert (result.progress.turn, result.progress.model_calls) == (2, 7)
