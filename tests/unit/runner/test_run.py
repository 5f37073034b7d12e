"""A run from its document to its report: outcomes, order of reports, journal."""

from __future__ import annotations

import asyncio

import pytest

from skerry_api.phases import Acquire, OutcomeClass, StopReason
from skerry_runner.ports import CancelReason, SandboxLost
from skerry_runner.sandbox.errors import SandboxReplaced, SandboxUnavailable
from skerry_runner.sandbox.types import ExecResult
from skerry_testing.fakesandbox import Command
from skerry_testing.runnerworld import RunnerWorld, document

BASH = 'steps:\n- toolCalls: [{name: bash, args: {command: "echo hi"}}]\n- expect: {contains: ["echo hi"], lastRole: tool}\n  say: it said hi\n'


async def test_an_answer_without_tools_needs_no_sandbox(world: RunnerWorld) -> None:
    result = await world.run(document("steps: [{say: hello, usage: {input: 7, output: 3}}]"))
    assert (result.outcome.class_, result.stop_reason) == (OutcomeClass.SUCCEEDED, StopReason.END_TURN)
    assert (result.answer, result.sandbox_id, world.provider.acquired) == ("hello", None, 0)
    assert (result.usage.input, result.usage.output, result.usage.total) == (7, 3, 10)
    assert (result.progress.turn, result.progress.model_calls, result.progress.tool_calls) == (1, 1, 0)
    assert world.reporter.calls == ["started", "ended"]
    assert [e["type"] for e in world.sink.events()] == ["run.start", "model.request", "model.response", "run.end"]
    assert world.sink.synced == 4
    assert world.reporter.counters[-1] == (result.progress, result.usage)


async def test_the_first_sandbox_tool_acquires_and_the_end_releases(world: RunnerWorld) -> None:
    result = await world.run(document(BASH))
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "it said hi")
    assert result.sandbox_id == "sbx-1"
    assert world.reporter.calls == ["started", "first_tool_call 1", "sandbox_acquired sbx-1", "ended"]
    assert (world.provider.acquired, world.provider.released) == (1, 1)
    assert [e["type"] for e in world.sink.events()] == [
        "run.start", "model.request", "model.response", "tool.call", "sandbox.acquired", "tool.result",
        "model.request", "model.response", "sandbox.released", "run.end",
    ]  # fmt: skip
    (result_event,) = world.sink.events("tool.result")
    assert (result_event["status"], result_event["content"]) == ("success", "echo hi")
