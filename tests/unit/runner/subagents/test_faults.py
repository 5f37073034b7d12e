"""A subagent whose model fails; how epochs find subagents that a former one left behind is in `subagentcases`."""

from __future__ import annotations

from typing import Any

from skerry_api.document import RunDocument
from skerry_api.phases import OutcomeClass
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
