"""A subagent whose model fails; how epochs find subagents that a former one left behind is in `subagentcases`."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest

from skerry_api.document import RunDocument
from skerry_api.phases import OutcomeClass, StopReason
from skerry_testing.policies import Halt
from skerry_testing.runnerworld import RunnerWorld, document

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


async def test_one_without_tools_hears_that_it_has_none(world: RunnerWorld) -> None:
    poet = {"name": "poet", "description": "Writes.", "tools": []}
    steps = (
        "steps:\n- {toolCalls: [{name: task, args: {prompt: x, subagent_type: poet}, id: t1}]}\n"
        "- {say: done}\n- {agent: poet, toolCalls: [{name: bash, args: {command: x}}]}\n"
        "- {agent: poet, say: ok, expect: {contains: [bash .error.]}}"
    )
    result = await world.run(document(steps, subagents={"enabled": True, "types": [poet]}))
    assert result.answer == "done", result.outcome
    assert world.provider.sandbox.commands == []


@pytest.mark.parametrize(
    ("limit", "class_", "reason"),
    [
        ({"max_tokens": 100}, OutcomeClass.SUCCEEDED, StopReason.TOKEN_CAPPED),
        ({"max_cost": 100, "price": (1_000_000, 1_000_000)}, OutcomeClass.BUDGET_EXCEEDED, None),
    ],
)
async def test_the_run_s_budget_ends_a_subagent_and_the_run(
    world: RunnerWorld, limit: dict[str, Any], class_: OutcomeClass, reason: StopReason | None
) -> None:
    steps = (
        "- {say: I begin, toolCalls: [{name: task, args: {prompt: x, subagent_type: bash}, id: t1}], usage: {input: 1, output: 1}}\n"
        "- {agent: bash, say: I look, toolCalls: [{name: ls}], usage: {input: 90, output: 8}}"
    )
    result = await world.run(delegating(steps, **limit))
    assert (result.outcome.class_, result.stop_reason) == (class_, reason), result.outcome
    # Neither was called again: the two calls have reached the limit together.
    assert (result.progress.model_calls, result.usage.subagents, result.usage.total) == (2, 98, 100)
    assert [end["status"] for end in world.sink.events("subagent.end")] == [
        "completed" if reason else "failed"
    ]


@pytest.mark.parametrize(
    ("command", "status", "reason"),
    [("interrupt", "cancelled", "GraphInterrupt"), ("halt", "failed", "Halt")],
)
async def test_whatever_passes_through_it_it_has_one_end(
    world: RunnerWorld, command: str, status: str, reason: str
) -> None:
    steps = ONE + f"- {{agent: bash, toolCalls: [{{name: bash, args: {{command: {command}}}}}]}}"
    guardrail = {"path": "skerry_testing.policies:StoppingSubagents"}
    with pytest.raises(Halt) if command == "halt" else nullcontext():
        await world.run(delegating(steps, guardrail=guardrail))
    await world.journal.flush()
    (start,) = world.sink.events("subagent.start")
    (end,) = world.sink.events("subagent.end")
    assert (end["id"], end["status"], end["reason"]) == (start["id"], status, reason)
