"""TokenUsage: what an answer's tokens were for, and a subagent's tokens once, whatever is replayed."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.tools import BaseTool, tool
from langgraph.graph.message import add_messages

from skerry_api.report import Tokens
from skerry_runner.middleware.loopdetection import LoopDetection
from skerry_runner.middleware.tokenusage import TokenUsage
from skerry_runner.middleware.tokenusage.attribution import attribution
from skerry_runner.middleware.tokenusage.merge import NOTE, rewritten
from skerry_runner.state import TodoItem
from skerry_runner.subagentusage import with_subagent_usage
from skerry_runner.tools.call import Runtime
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.threadruns import ThreadRuns

TODOS: list[TodoItem] = [
    {"content": "look", "status": "in_progress"},
    {"content": "write", "status": "pending"},
    {"content": "sing", "status": "pending"},
]
USED = UsageMetadata(input_tokens=7, output_tokens=3, total_tokens=10)


def calling(*calls: tuple[str, str, dict[str, Any]], of: str = "a1", text: str = "") -> AIMessage:
    made: Any = [{"id": call_id, "name": name, "args": args} for call_id, name, args in calls]
    return AIMessage(text, id=of, tool_calls=made, usage_metadata=USED)


def written(*todos: tuple[str, str]) -> tuple[str, str, dict[str, Any]]:
    return "c1", "write_todos", {"todos": [{"content": text, "status": status} for text, status in todos]}


def task(call_id: str) -> tuple[str, str, dict[str, Any]]:
    return call_id, "task", {"prompt": "dig"}


def came_home(call_id: str, total: int, **kwargs: Any) -> ToolMessage:
    result = ToolMessage("found", tool_call_id=call_id, **kwargs)
    return with_subagent_usage(result, Tokens(input=total - 1, output=1, total=total))


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        (AIMessage("done"), "final_answer"),
        (AIMessage([{"type": "thinking", "thinking": "hm"}]), "thinking"),
        (calling(("c1", "ls", {})), "tool_batch"),
        (calling(written(("look", "completed"))), "todo_update"),
        (calling(written(("look", "completed")), ("c2", "ls", {})), "tool_batch"),
        (calling(task("c1"), ("c2", "ls", {})), "subagent_dispatch"),
        (AIMessage("", invalid_tool_calls=[{"id": "c1", "name": "ls", "args": "{", "error": None, "type": "invalid_tool_call"}]), "tool_batch"),
    ],
)  # fmt: skip
def test_kinds_of_steps(message: AIMessage, kind: str) -> None:
    assert attribution(message, [])["kind"] == kind


@pytest.mark.parametrize(
    ("call", "kinds"),
    [
        (task("c1"), ["subagent"]),
        (("c1", "tool_search", {}), ["search"]),
        (("c1", "grep", {}), ["search"]),
        (("c1", "wiki_Search", {}), ["search"]),
        (("c1", "present_files", {}), ["present_files"]),
        (("c1", "ask_clarification", {}), ["clarification"]),
        (("c1", "bash", {}), ["tool"]),
        (written(("look", "completed"), ("write", "in_progress"), ("sing", "pending")), ["todo_complete", "todo_start"]),
        (written(("look", "in_progress"), ("write", "pending")), ["todo_remove"]),
        (written(*((todo["content"], todo["status"]) for todo in TODOS), ("eat", "pending")), ["todo_update"]),
        (written(*((todo["content"], todo["status"]) for todo in TODOS)), ["todo_update"]),
        (("c1", "write_todos", {"todos": "look"}), ["todo_remove"] * 3),
    ],
)  # fmt: skip
def test_kinds_of_actions(call: tuple[str, str, dict[str, Any]], kinds: list[str]) -> None:
    note = attribution(calling(call), TODOS)
    assert [action["kind"] for action in note["actions"]] == kinds
    assert note["tool_call_ids"] == ["c1"]
    assert note["shared"] is (len(kinds) > 1)


def test_the_newest_answer_is_noted_under_its_id_and_the_old_message_stays() -> None:
    message = calling(("c1", "ls", {}), text="on")
    (made,) = rewritten([HumanMessage("go"), message], [])
    assert (made.id, made.text, made.tool_calls, made.usage_metadata) == (
        "a1",
        "on",
        message.tool_calls,
        USED,
    )
    assert made.additional_kwargs[NOTE]["usage"] == {"input": 7, "output": 3, "total": 10}
    assert NOTE not in message.additional_kwargs
    assert rewritten([HumanMessage("go"), made], []) == []


def test_an_answer_without_a_count_is_noted_with_zeros() -> None:
    (made,) = rewritten([AIMessage("hi", id="a1")], [])
    assert made.additional_kwargs[NOTE]["usage"] == {"input": 0, "output": 0, "total": 0}


def noted(messages: list[AnyMessage]) -> list[AnyMessage]:
    """The history with the notes in it, through the reducer that the graph has."""
    left: Any = messages
    right: Any = rewritten(messages, [])
    kept: Any = add_messages(left, right)
    return list(kept)


def test_parallel_subagents_add_up_on_the_answer_that_sent_them() -> None:
    history = noted([HumanMessage("go", id="h"), calling(task("c1"), task("c2"))])
    history = noted(
        [*history, came_home("c1", 100, id="t1"), came_home("c2", 50, id="t2"), AIMessage("ok", id="a2")]
    )
    sent, last = (message.additional_kwargs[NOTE] for message in history if isinstance(message, AIMessage))
    assert sent["subagents"] == {
        "c1": {"input": 99, "output": 1, "total": 100},
        "c2": {"input": 49, "output": 1, "total": 50},
    }
    assert sent["usage"] == {"input": 155, "output": 5, "total": 160}
    assert (sent["kind"], "subagents" in last) == ("subagent_dispatch", False)
    # The size of the context is not the subagents'.
    assert isinstance(history[1], AIMessage)
    assert history[1].usage_metadata == USED


def test_a_replay_counts_nothing_twice() -> None:
    history = noted([HumanMessage("go", id="h"), calling(task("c1"))])
    history = [*history, came_home("c1", 100, id="t1"), AIMessage("ok", id="a2")]
    once = noted(history)
    assert noted(once) == once
    # The same step again, from the checkpoint before it.
    assert noted(history) == once


def test_an_id_that_comes_again_is_another_call() -> None:
    history: list[AnyMessage] = [
        calling(task("c1"), of="a1"), came_home("c1", 100, id="t1"),
        calling(task("c1"), of="a2"), came_home("c1", 50, id="t2"),
        AIMessage("ok", id="a3"),
    ]  # fmt: skip
    totals = {m.id: m.additional_kwargs[NOTE]["usage"]["total"] for m in rewritten(history, [])}
    assert totals == {"a1": 110, "a2": 60, "a3": 0}


def test_a_result_whose_call_has_left_the_history_counts_for_nobody() -> None:
    history: list[AnyMessage] = [
        came_home("c0", 9),
        AIMessage("x", id="a1"),
        came_home("c1", 9),
        AIMessage("ok", id="a2"),
    ]
    assert [message.id for message in rewritten(history, [])] == ["a2"]


@tool("task")
async def reporting(prompt: str, runtime: Runtime) -> Any:
    """A subagent that used tokens."""
    return came_home(runtime.tool_call_id or "", 100, name="task")


@pytest.mark.parametrize("fused", [True, False])
async def test_in_a_run_every_answer_has_its_note(world: RunnerWorld, fused: bool) -> None:
    tools: list[BaseTool] = [reporting]
    runs = ThreadRuns(world, TokenUsage(), LoopDetection(), extra_tools=tools, fused=fused)
    two = "{toolCalls: [{name: task, args: {prompt: a}, id: c1}, {name: task, args: {prompt: b}, id: c2}], usage: {input: 7, output: 3}}"
    script = f"steps: [{two}, {{toolCalls: [{{name: ls, id: c1}}], usage: {{input: 1, output: 1}}}}, {{say: done, usage: {{input: 2, output: 1}}}}]"
    result = await runs.play(document(script))
    assert result.outcome.message == ""
    notes = [m.additional_kwargs[NOTE] for m in await runs.messages() if isinstance(m, AIMessage)]
    assert [(note["kind"], note["usage"]["total"]) for note in notes] == [
        ("subagent_dispatch", 210), ("tool_batch", 2), ("final_answer", 3),
    ]  # fmt: skip


async def test_what_a_guard_took_away_is_put_down_to_nothing(world: RunnerWorld) -> None:
    runs = ThreadRuns(world, TokenUsage(), LoopDetection())
    await runs.play(document("steps: [" + "{toolCalls: [{name: ls}]}, " * 5 + "]"))
    last = (await runs.messages())[-1]
    assert (last.additional_kwargs[NOTE]["kind"], last.additional_kwargs[NOTE]["actions"]) == (
        "final_answer",
        [],
    )
