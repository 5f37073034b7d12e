"""SubagentLimit: what is cut from an answer, in every place; and the run that ends for want of more."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.messages.tool import ToolCall, invalid_tool_call, tool_call_chunk

from skerry_api.phases import OutcomeClass, StopReason
from skerry_api.rows.subagentlimit import SubagentLimitSettings
from skerry_runner.checkpoint import memory_saver
from skerry_runner.messages import STOP, text_of
from skerry_runner.middleware.subagentlimit import CAPPED, limited
from skerry_testing.runnerworld import RunnerWorld, document

LIMITS = SubagentLimitSettings(max_concurrent=3, max_total=6)
ENABLED = {"enabled": True}


def call(name: str, id_: str) -> ToolCall:
    return ToolCall(name=name, args={}, id=id_, type="tool_call")


def answer(*names: str, **fields: Any) -> AIMessage:
    calls = [call(name, f"c{index}") for index, name in enumerate(names)]
    return AIMessage(fields.pop("content", "I do."), id="m1", tool_calls=calls, **fields)


@pytest.mark.parametrize(
    ("names", "before", "kept", "handed_on"),
    [
        (["ls"], 0, ["c0"], 0),
        (["task", "task", "task"], 0, ["c0", "c1", "c2"], 3),
        (["task", "task", "task", "task"], 0, ["c0", "c1", "c2"], 3),
        (["task", "ls", "task", "task", "bash", "task", "task"], 0, ["c0", "c1", "c2", "c3", "c4"], 3),
        (["task", "task", "task"], 5, ["c0"], 1),
        (["task", "ls", "task"], 6, ["c1"], 0),
        (["task"], 99, [], 0),
    ],
)
def test_the_first_ones_stay_and_others_are_untouched(
    names: list[str], before: int, kept: list[str], handed_on: int
) -> None:
    message = answer(*names)
    cut, counted = limited(message, before, LIMITS)
    assert [each["id"] for each in cut.tool_calls] == kept
    assert (counted, cut.id) == (handed_on, "m1")
    assert [each["id"] for each in message.tool_calls] == [f"c{n}" for n in range(len(names))]
    assert (cut is message) is (len(kept) == len(names))
    assert (STOP in cut.additional_kwargs) is (not kept)


def test_a_cut_call_leaves_every_place() -> None:
    blocks: list[str | dict[Any, Any]] = [
        {"type": "text", "text": "I do."},
        *({"type": "tool_use", "id": f"c{n}", "name": "task", "input": {}} for n in range(4)),
        {"type": "function_call", "call_id": "c3", "name": "task", "arguments": "{}"},
    ]
    raw = [
        {"id": f"c{n}", "type": "function", "function": {"name": "task", "arguments": "{}"}} for n in range(4)
    ]
    message = AIMessageChunk(
        content=blocks,
        id="m1",
        tool_call_chunks=[tool_call_chunk(name="task", args="{}", id=f"c{n}", index=n) for n in range(4)],
        additional_kwargs={"tool_calls": raw, "kept": 1},
        response_metadata={"finish_reason": "tool_calls"},
    )
    cut, counted = limited(message, 0, LIMITS)
    assert counted == 3
    assert isinstance(cut, AIMessageChunk)
    assert isinstance(cut.content, list)
    assert "c3" not in str([cut.content, cut.tool_calls, cut.tool_call_chunks, cut.additional_kwargs])
    assert [block["id"] for block in cut.content if isinstance(block, dict) and "id" in block] == [
        "c0",
        "c1",
        "c2",
    ]
    assert len(cut.tool_call_chunks) == len(cut.additional_kwargs["tool_calls"]) == 3
    assert (cut.additional_kwargs["kept"], cut.additional_kwargs[CAPPED]) == (1, {"cut": 1, "left": 3})
    # Calls are left, and so is what announces them.
    assert cut.response_metadata == {"finish_reason": "tool_calls"}
    assert "1 call of `task` was not made: at most 3 work side by side" in text_of(cut)
    assert len(message.tool_calls) == 4


def test_with_nothing_left_to_do_the_answer_is_final() -> None:
    raw = {"tool_calls": [{"id": "c0", "function": {"name": "task", "arguments": "{}"}}]}
    message = answer(
        "task", content="", additional_kwargs=raw, response_metadata={"finish_reason": "tool_calls"}
    )
    cut, counted = limited(message, 6, LIMITS)
    assert (counted, cut.tool_calls, cut.additional_kwargs[STOP]) == (0, [], "SubagentCapped")
    assert "tool_calls" not in cut.additional_kwargs
    assert cut.response_metadata == {"finish_reason": "stop"}
    assert text_of(cut).startswith(
        "[SUBAGENT LIMIT REACHED] This run has handed on all of its 6 pieces of work; 1 call"
    )


def test_a_broken_call_beside_it_is_still_to_be_told_of() -> None:
    broken = invalid_tool_call(name="ls", args="{", id="c9", error="no JSON")
    cut, _ = limited(answer("task", invalid_tool_calls=[broken]), 6, LIMITS)
    assert STOP not in cut.additional_kwargs
    assert (cut.tool_calls, len(cut.invalid_tool_calls)) == ([], 1)


CALLS = ", ".join(f"{{name: task, args: {{prompt: p{n}, subagent_type: bash}}, id: t{n}}}" for n in range(4))
ONE = "{toolCalls: [{name: task, args: {prompt: again, subagent_type: bash}, id: t9}]}"


async def test_a_run_that_has_handed_on_all_it_may_ends_capped(world: RunnerWorld) -> None:
    plan = "{name: write_todos, args: {todos: [{content: write, status: pending}]}}"
    script = f"steps: [{{toolCalls: [{plan}, {CALLS}]}}, {{say: So far., toolCalls: [{CALLS}]}}, {{agent: bash, say: ok}}]"
    limit = {"subagentLimit": {"maxConcurrent": 4, "maxTotal": 4}, "todoList": {"enabled": True}}
    saver = memory_saver()
    result = await world.run(document(script, subagents=ENABLED, pipeline=limit), checkpointer=saver)
    assert (result.outcome.class_, result.stop_reason) == (OutcomeClass.SUCCEEDED, StopReason.SUBAGENT_CAPPED)
    assert result.answer is not None
    assert result.answer.startswith("So far.\n\n[SUBAGENT LIMIT REACHED]")
    assert len(world.sink.events("subagent.start")) == 4
    (capped,) = world.sink.events("subagent.capped")
    assert (capped["cut"], capped["left"], capped["stopped"]) == (4, 0, True)
    # The open list of todos does not bring the run back.
    assert result.progress.todos is not None
    assert result.progress.turn == 2


async def test_the_count_outlives_an_epoch_but_not_a_run(world: RunnerWorld) -> None:
    saver = memory_saver()
    limit = {"subagentLimit": {"maxTotal": 1}}
    first = f"steps: [{ONE}, {{say: one}}, {{agent: bash, say: ok}}]"
    await world.run(document(first, subagents=ENABLED, pipeline=limit), checkpointer=saver)
    async with RunnerWorld() as other:
        again = await other.run(
            document(first, run="run-uid-2", subagents=ENABLED, pipeline=limit), checkpointer=saver
        )
        assert (again.answer, len(other.sink.events("subagent.start"))) == ("one", 1)
    kept = await saver.aget({"configurable": {"thread_id": "ns\nuser\nthread-1", "checkpoint_ns": ""}})
    assert kept is not None
    limits = kept["channel_values"]["limits"]
    assert [limits[run]["delegations"] for run in ("run-uid-1", "run-uid-2")] == [1, 1]


async def test_the_model_hears_of_calls_that_were_not_made(world: RunnerWorld) -> None:
    script = (
        f"steps: [{{toolCalls: [{CALLS}]}}, {{expect: {{contains: ['1 call of .task. was not made'], absent: ['p3']}}, "
        "say: done}, {agent: bash, say: ok}]"
    )
    result = await world.run(document(script, subagents=ENABLED))
    assert result.answer == "done", result.outcome
    assert [event["id"] for event in world.sink.events("tool.call")] == ["t0", "t1", "t2"]
