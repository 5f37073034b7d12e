"""SafetyFinishReason: signals of providers, what becomes of the answer, how the run ends."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest
from langchain.agents.middleware.types import AgentMiddleware, hook_config
from langchain_core.messages import AIMessage
from pydantic import ValidationError
from typing_extensions import override

from skerry_api.phases import OutcomeClass, StopReason
from skerry_api.rows.safetyfinishreason import DEFAULT_ADAPTERS, SafetyAdapter, SafetyFinishReasonSettings
from skerry_runner.checkpoint import memory_saver
from skerry_runner.messages import STOP
from skerry_runner.middleware.safetyfinishreason import (
    Action,
    SafetyFinishReason,
    SafetyStop,
    made_safe,
    safety_stop,
)
from skerry_runner.toolcalls import declared_calls
from skerry_testing.modelrows import play
from skerry_testing.runnerworld import RunnerWorld, document

CALL: Any = {"name": "write_file", "args": {"content": "SECRET"}, "id": "1", "type": "tool_call"}
BROKEN: Any = {"name": "bash", "args": '{"SECRET', "id": "2", "error": None, "type": "invalid_tool_call"}
STOPPED = SafetyStop("openai", "finish_reason", "content_filter")
GEMINI = (
    "SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "RECITATION", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
)  # fmt: skip


@pytest.mark.parametrize(
    ("metadata", "adapter"),
    [
        ({"finish_reason": "content_filter"}, "openai"),
        ({"finish_reason": "CONTENT_FILTER"}, "openai"),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}, "openai"),
        ({"stop_reason": "refusal"}, "anthropic"),
        *(({"finish_reason": word}, "gemini") for word in GEMINI),
        ({"finish_reason": "SAFETYSAFETY"}, "gemini"),
        ({"prompt_feedback": {"block_reason": "BLOCKLIST"}}, "gemini"),
        ({"finish_reason": "stop"}, None),
        ({"finish_reason": "tool_calls"}, None),
        ({"finish_reason": "STOPSAFETY"}, None),
        ({"finish_reason": "refusal"}, None),
        ({"finish_reason": None}, None),
        ({"finish_reason": 3}, None),
        ({"finish_reason": ["content_filter"]}, None),
        ({}, None),
    ],
)
def test_what_providers_say(metadata: dict[str, Any], adapter: str | None) -> None:
    found = safety_stop(AIMessage("x", response_metadata=metadata), DEFAULT_ADAPTERS)
    assert (found.adapter if found else None) == adapter
    beside = safety_stop(AIMessage("x", additional_kwargs=metadata), DEFAULT_ADAPTERS)
    assert (beside.adapter if beside else None) == adapter


def test_adapters_are_asked_in_order_and_can_be_one_s_own() -> None:
    own = SafetyAdapter(name="house", fields=("x.verdict",), values=("blocked",))
    message = AIMessage("x", response_metadata={"x": {"verdict": "Blocked"}, "stop_reason": "refusal"})
    assert safety_stop(message, (own, *DEFAULT_ADAPTERS)) == SafetyStop("house", "x.verdict", "blocked")
    assert safety_stop(message, DEFAULT_ADAPTERS) == SafetyStop("anthropic", "stop_reason", "refusal")


@pytest.mark.parametrize(
    "settings",
    [
        {"adapters": []},
        {"adapters": [{"name": "x", "fields": [], "values": ["a"]}]},
        {"adapters": [{"name": "x", "fields": ["a"], "values": []}]},
        {"adapters": [{"name": "x", "fields": ["a"], "values": [""]}]},
        {"adapters": [{"name": "Not A Name", "fields": ["a"], "values": ["b"]}]},
    ],
)
def test_settings_that_could_never_fit_are_an_error(settings: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="adapters"):
        SafetyFinishReasonSettings.model_validate(settings)


@pytest.mark.parametrize(
    ("message", "action", "names", "text"),
    [
        (AIMessage("so", tool_calls=[CALL]), Action.SUPPRESS, ("write_file",), "so\n\nThe model's .*1 tool call .* was not made"),
        (AIMessage("", tool_calls=[CALL], invalid_tool_calls=[BROKEN]), Action.SUPPRESS, ("write_file", "bash"),
         "2 tool calls .* were not made"),
        (AIMessage("", invalid_tool_calls=[{**BROKEN, "name": None}]), Action.SUPPRESS, ("unknown_tool",), "1 tool call"),
        (AIMessage("", additional_kwargs={"function_call": {"name": "f", "arguments": "SECRET"}}), Action.SUPPRESS, ("f",),
         "1 tool call"),
        (AIMessage([{"type": "text", "text": "so"}, {"type": "tool_use", "id": "1", "name": "write_file", "input": {}}],
                   tool_calls=[CALL]), Action.SUPPRESS, ("write_file",), "so.*1 tool call"),
        (AIMessage(""), Action.FILL_BLANK, (), "^The model's provider stopped .*content_filter.* before"),
        (AIMessage(" \n"), Action.FILL_BLANK, (), "before it said anything"),
        (AIMessage([{"type": "thinking", "thinking": "hm"}]), Action.FILL_BLANK, (), "before it said anything"),
        (AIMessage("half an ans"), Action.MARK, (), "^half an ans$"),
    ],
)  # fmt: skip
def test_what_becomes_of_the_answer(
    message: AIMessage, action: Action, names: tuple[str, ...], text: str
) -> None:
    message = message.model_copy(
        update={"id": "m1", "response_metadata": {"finish_reason": "content_filter"}}
    )
    before = message.model_dump()
    safe = made_safe(message, STOPPED)
    assert (safe.action, safe.suppressed) == (action, names)
    new = safe.message
    assert (new.id, new.response_metadata) == ("m1", {"finish_reason": "content_filter"})
    assert declared_calls(new) == []
    assert new.additional_kwargs == {
        STOP: "SafetyCapped",
        "safety_termination": {
            "adapter": "openai", "field": "finish_reason", "value": "content_filter",
            "suppressed": {"count": len(names), "names": list(names)},
        },
    }  # fmt: skip
    assert re.search(text, str(new.text), re.DOTALL)
    assert "SECRET" not in new.model_dump_json()
    assert message.model_dump() == before


CUT = (
    "steps:\n- {say: I will, finishReason: %s, provider: %s, toolCalls: [{name: bash, args: {command: one}, id: c1},"
    " {name: write_file, args: {path: /mnt/user-data/outputs/a, content: hal}, id: c2}]}\n- say: never\n"
)


@pytest.mark.parametrize(
    ("provider", "word"), [("openai", "content_filter"), ("anthropic", "refusal"), ("gemini", "SAFETY")]
)
async def test_no_call_of_a_stopped_answer_is_run(world: RunnerWorld, provider: str, word: str) -> None:
    result = await play(world, document(CUT % (word, provider)))
    assert (result.outcome.class_, result.stop_reason) == (OutcomeClass.SUCCEEDED, StopReason.SAFETY_CAPPED)
    assert result.answer is not None
    assert result.answer.startswith("I will\n\nThe model's provider stopped this answer")
    assert (world.provider.acquired, result.progress.model_calls, result.progress.tool_calls) == (0, 1, 0)
    (event,) = world.sink.events("safety_termination")
    assert (event["adapter"], event["value"], event["action"], event["suppressed"]) == (
        provider, word, "suppress_tool_calls", ["bash", "write_file"],
    )  # fmt: skip
    assert "hal" not in str(event)


@pytest.mark.parametrize(
    ("say", "answer", "action"),
    [
        ("''", "The model's provider stopped this answer for safety (content_filter) before it said anything.", "fill_blank"),
        ("half an ans", "half an ans", "mark"),
    ],
)  # fmt: skip
async def test_an_answer_without_calls_is_the_last_one(
    world: RunnerWorld, say: str, answer: str, action: str
) -> None:
    result = await play(
        world, document(f"steps: [{{say: {say}, finishReason: content_filter}}, {{say: never}}]")
    )
    assert (result.stop_reason, result.answer) == (StopReason.SAFETY_CAPPED, answer)
    assert result.progress.model_calls == 1
    assert [event["action"] for event in world.sink.events("safety_termination")] == [action]


async def test_a_stop_of_an_earlier_run_is_not_this_one_s(world: RunnerWorld) -> None:
    saver = memory_saver()
    await play(world, document(CUT % ("content_filter", "openai")), saver=saver)
    result = await play(world, document("steps: [{say: fine}]", run="run-uid-2"), saver=saver)
    assert (result.stop_reason, result.answer) == (StopReason.END_TURN, "fine")
    assert len(world.sink.events("safety_termination")) == 1


class Counting(AgentMiddleware[Any, Any, Any]):
    """Stands where LoopDetection and Todo do: sees what the model said after SafetyFinishReason, and would go on."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[int] = []

    @hook_config(can_jump_to=["model"])
    @override
    async def aafter_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        last = state["messages"][-1]
        self.seen.append(len(last.tool_calls))
        return None if last.additional_kwargs.get(STOP) else {"jump_to": "model"}


async def test_rows_after_it_see_no_calls_and_that_it_is_final(world: RunnerWorld) -> None:
    row = Counting()
    result = await play(world, document(CUT % ("content_filter", "openai")), extra=[row])
    assert (row.seen, result.stop_reason) == ([0], StopReason.SAFETY_CAPPED)


async def test_the_journal_s_event_names_calls_and_never_arguments(world: RunnerWorld) -> None:
    message = AIMessage("", id="m1", tool_calls=[CALL], response_metadata={"finish_reason": "content_filter"})
    runtime: Any = SimpleNamespace(context=SimpleNamespace(journal=world.journal, agent="child"))
    update = await SafetyFinishReason(SafetyFinishReasonSettings()).aafter_model(
        {"messages": [message]}, runtime
    )
    assert update is not None
    await world.journal.flush()
    (event,) = world.sink.events("safety_termination")
    assert {key: event[key] for key in event if key not in {"seq", "time", "run", "epoch", "thread"}} == {
        "agent": "child", "type": "safety_termination", "id": "m1", "adapter": "openai", "field": "finish_reason",
        "value": "content_filter", "action": "suppress_tool_calls", "suppressed": ["write_file"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [AIMessage("x", response_metadata={"finish_reason": "stop"})],
        [
            AIMessage(
                "x",
                response_metadata={"finish_reason": "content_filter"},
                additional_kwargs={STOP: "ModelError"},
            )
        ],
    ],
)
async def test_what_is_none_of_its_business(messages: list[AIMessage]) -> None:
    runtime: Any = None
    row = SafetyFinishReason(SafetyFinishReasonSettings())
    assert await row.aafter_model({"messages": list(messages)}, runtime) is None
