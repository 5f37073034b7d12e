"""LoopDetection in runs: warnings in requests, the forced stop, counters over epochs, clean-up at both ends."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import AIMessage
from typing_extensions import override

from skerry_api.phases import OutcomeClass, StopReason
from skerry_api.rows.loopdetection import LoopDetectionSettings
from skerry_runner.messages import STOP
from skerry_runner.middleware.loopdetection import LoopDetection
from skerry_runner.middleware.loopdetection.judge import Finding, Layer
from skerry_runner.middleware.loopdetection.texts import FORCED_STOP, WARNING_NAME, stopped, warning_message
from skerry_runner.models.scripted.faults import ScriptedFault
from skerry_runner.pending import RunKey
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.threadruns import ThreadRuns

KEY = RunKey("thread-1", "run-uid-1")
LOOK = "{say: looking, toolCalls: [{name: ls}]}"
FOUND = Finding(Layer.ACTION, ("ls",), 5, 5, hard=True)
CALL: Any = {"name": "ls", "args": {}, "id": "c1", "type": "tool_call"}


def steps(*parts: str) -> str:
    return f"steps: [{', '.join(parts)}]"


def test_a_stopped_message_asks_for_nothing_anywhere() -> None:
    before = AIMessage(
        [{"type": "text", "text": "on"}, {"type": "tool_use", "id": "c1", "name": "ls", "input": {}}],
        id="a1",
        tool_calls=[CALL],
        invalid_tool_calls=[{**CALL, "args": "{", "error": None, "type": "invalid_tool_call"}],
        additional_kwargs={"tool_calls": [{"id": "c1"}], "function_call": {"name": "ls"}, "kept": 1},
        response_metadata={"finish_reason": "tool_calls", "stop_reason": "tool_use"},
    )
    after = stopped(before, FOUND)
    assert (after.id, after.tool_calls, after.invalid_tool_calls) == ("a1", [], [])
    assert after.additional_kwargs == {"kept": 1, STOP: "LoopCapped"}
    assert after.response_metadata == {"finish_reason": "stop", "stop_reason": "end_turn"}
    assert [block["type"] for block in after.content if isinstance(block, dict)] == ["text", "text"]
    assert FORCED_STOP in after.text
    assert len(before.tool_calls) == 1


@pytest.mark.parametrize("content", ["", "on my way", [], ["on"]])
def test_every_kind_of_content_gets_the_words(content: Any) -> None:
    after = stopped(AIMessage(content, tool_calls=[CALL]), FOUND)
    assert FORCED_STOP in after.text
    assert after.text.startswith("on") is bool(content)


def test_a_warning_without_a_history_is_a_message_too() -> None:
    assert (warning_message(["a", "b"], None).text, warning_message(["a"], None).name) == (
        "[LOOP WARNING] a\n\n[LOOP WARNING] b",
        WARNING_NAME,
    )


async def test_the_same_action_is_warned_of_and_then_stopped(world: RunnerWorld) -> None:
    warned = "{expect: {contains: ['human: .LOOP WARNING. You have made the same call of .ls. 3 times'], lastRole: human}, toolCalls: [{name: ls}]}"
    quiet = "{expect: {absent: [You have made the same call], lastRole: tool}, toolCalls: [{name: ls}]}"
    result = await world.run(document(steps(LOOK, quiet, quiet, warned, quiet)))
    assert (result.outcome.class_, result.stop_reason) == (OutcomeClass.SUCCEEDED, StopReason.LOOP_CAPPED)
    assert result.answer is not None
    assert result.answer.startswith(FORCED_STOP)
    # The fifth call is not made.
    assert len(world.sink.events("tool.call")) == 4
    told = world.sink.events("loop.warning", "loop.stop")
    assert [(event["type"], event["layer"], event["tools"], event["count"], event["limit"]) for event in told] == [
        ("loop.warning", "action", ["ls"], 3, 3), ("loop.stop", "action", ["ls"], 5, 5),
    ]  # fmt: skip


async def test_the_warning_stands_behind_all_results_and_in_no_state(world: RunnerWorld) -> None:
    runs = ThreadRuns(world, LoopDetection(LoopDetectionSettings(warn=1, hard=9)))
    both = "{toolCalls: [{name: ls}, {name: ls, args: {path: /mnt/user-data/outputs}}]}"
    await runs.play(document(steps(both, "{say: done}")))
    first, second = world.sink.events("model.request")
    assert [message["role"] for message in second["messages"]] == [
        "system",
        "human",
        "ai",
        "tool",
        "tool",
        "human",
    ]
    assert second["messages"][-1]["name"] == WARNING_NAME
    assert WARNING_NAME not in [message.get("name") for message in first["messages"]]
    assert WARNING_NAME not in [message.name for message in await runs.messages()]


class Again(AgentMiddleware[Any, Any, Any]):
    """Calls once more after an error, as a retrying row does."""

    @override
    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except ScriptedFault:
            return await handler(request)


async def test_a_warning_counts_as_told_when_the_call_has_returned(world: RunnerWorld) -> None:
    runs = ThreadRuns(world, Again(), LoopDetection(LoopDetectionSettings(warn=1, hard=9)))
    result = await runs.play(document(steps(LOOK, "{error: {status: 500}}", "{say: done}")))
    assert result.outcome.message == ""
    _, failed, again = world.sink.events("model.request")
    assert failed["messages"] == again["messages"]
    assert again["messages"][-1]["name"] == WARNING_NAME


async def test_a_call_that_is_cancelled_delivers_nothing(world: RunnerWorld) -> None:
    row, called = LoopDetection(), asyncio.Event()
    row.pending.put(KEY, "hint")

    class Hangs(AgentMiddleware[Any, Any, Any]):
        @override
        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            assert request.messages[-1].text == "[LOOP WARNING] hint"
            called.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(ThreadRuns(world, row, Hangs()).play(document()))
    await called.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert row.pending.waiting(KEY) == ("hint",)


async def test_no_more_than_four_warnings_in_a_request(world: RunnerWorld) -> None:
    row = LoopDetection()

    class Much(AgentMiddleware[Any, Any, Any]):
        @override
        async def aafter_agent(self, state: Any, runtime: Any) -> None:
            assert row.pending.waiting(KEY) == ("hint 4",)

        @override
        async def abefore_model(self, state: Any, runtime: Any) -> None:
            for number in range(5):
                row.pending.put(KEY, f"hint {number}")

    runs = ThreadRuns(world, row, Much())
    result = await runs.play(document(steps("{expect: {contains: [hint 3], absent: [hint 4]}, say: ok}")))
    assert result.outcome.message == ""


async def test_both_ends_clean_up(world: RunnerWorld) -> None:
    row = LoopDetection(LoopDetectionSettings(warn=1, hard=9))
    crashed, elsewhere = RunKey("thread-1", "crashed"), RunKey("thread-2", "crashed")
    for key in (crashed, elsewhere):
        row.pending.put(key, "old")
    # Broken calls alone bring a warning, and no call follows that could hold it.
    last = "{invalidToolCalls: [{name: ls, args: '{'}]}"
    result = await ThreadRuns(world, row).play(document(steps(last), max_turns=1))
    assert result.stop_reason is StopReason.TURN_CAPPED
    assert len(world.sink.events("loop.warning")) == 1
    assert row.pending.waiting(KEY) == row.pending.waiting(crashed) == ()
    # Runs of other threads are alive for all we know.
    assert row.pending.waiting(elsewhere) == ("old",)


async def test_calls_that_can_t_be_made_are_actions_too(world: RunnerWorld) -> None:
    broken = "{invalidToolCalls: [{name: ls, args: '{'}]}"
    result = await world.run(document(steps(*[broken] * 5)))
    assert (result.stop_reason, result.progress.model_calls) == (StopReason.LOOP_CAPPED, 5)


async def test_switched_off_it_lets_an_agent_go_in_circles(world: RunnerWorld) -> None:
    script = steps(*[LOOK] * 6, "{say: done}")
    result = await world.run(document(script, pipeline={"loopDetection": {"enabled": False}}))
    assert (result.answer, result.stop_reason) == ("done", StopReason.END_TURN)


async def test_calls_that_safety_took_away_are_not_counted(world: RunnerWorld) -> None:
    unsafe = "{say: nope, toolCalls: [{name: ls}], finishReason: content_filter}"
    settings = {"loopDetection": {"warn": 1, "hard": 1}}
    result = await world.run(document(steps(unsafe), pipeline=settings))
    assert (result.stop_reason, world.sink.events("loop.stop")) == (StopReason.SAFETY_CAPPED, [])
