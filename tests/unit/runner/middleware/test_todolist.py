"""TodoList: when the list is shown again, and what waits for the next call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from typing_extensions import override

from skerry_runner.compose.rows import Hook, hooks_of
from skerry_runner.messages import HIDDEN, STOP
from skerry_runner.middleware.todolist import TodoList
from skerry_runner.middleware.todolist.plan import (
    COMPLETION_NAME,
    PLAN_PROMPT,
    REMINDER_NAME,
    TODO_REMINDER,
    completion_message,
    completion_text,
    digest,
    ends_early,
    list_reminder,
    out_of_sight,
    with_plan_prompt,
)
from skerry_runner.models.scripted.faults import ScriptedFault
from skerry_runner.pending import RunKey
from skerry_runner.state import TodoItem
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.threadruns import ThreadRuns

OPEN: list[TodoItem] = [
    {"content": "look <there>", "status": "completed"},
    {"content": "write", "status": "in_progress"},
    {"content": "check", "status": "pending"},
]
DONE: list[TodoItem] = [{"content": "look", "status": "completed"}]
WROTE = AIMessage("", tool_calls=[{"name": "write_todos", "args": {}, "id": "c1"}])
OTHER = AIMessage("", tool_calls=[{"name": "ls", "args": {}, "id": "c1"}])
WORKED = ToolMessage("OK", tool_call_id="c1")
FAILED = ToolMessage("Error", tool_call_id="c1", status="error")
USER = HumanMessage("go")


@pytest.mark.parametrize(
    ("messages", "todos", "hidden"),
    [
        ([USER], OPEN, True),
        ([USER], DONE, False),
        ([USER], [], False),
        ([], OPEN, True),
        ([USER, WROTE, WORKED], OPEN, False),
        ([USER, WROTE, FAILED], OPEN, True),
        ([USER, WROTE], OPEN, True),
        ([USER, OTHER, WORKED], OPEN, True),
        ([WORKED, USER], OPEN, True),
        ([list_reminder("r", OPEN), USER], OPEN, False),
        # A reminder of another list, and a text that only looks like one.
        ([list_reminder("r", DONE), USER], OPEN, True),
        ([HumanMessage(list_reminder("r", OPEN).text, name=REMINDER_NAME)], OPEN, True),
    ],
)
def test_when_the_list_is_out_of_sight(
    messages: list[AnyMessage], todos: list[TodoItem], hidden: bool
) -> None:
    assert out_of_sight(messages, todos) is hidden


def test_the_reminder_shows_the_whole_list() -> None:
    message = list_reminder("run", OPEN)
    assert (message.name, message.id) == (REMINDER_NAME, f"run__todos_{digest(OPEN)}")
    assert message.additional_kwargs == {HIDDEN: True, TODO_REMINDER: digest(OPEN)}
    assert "- [completed] look <there>\n- [in_progress] write\n- [pending] check\n" in message.text


def test_the_completion_reminder_names_only_what_is_open() -> None:
    text = completion_text(OPEN)
    assert "- [in_progress] write\n- [pending] check\n" in text
    assert "look" not in text
    message = completion_message([text], AIMessage("x", id="a1"))
    assert (message.name, message.id, message.text) == (COMPLETION_NAME, "a1__todo_completion", text)
    assert message.additional_kwargs == {HIDDEN: True, COMPLETION_NAME: True}


CALL: Any = {"name": "ls", "args": {}, "id": "c1"}
BROKEN: Any = {"name": "ls", "args": "{", "id": "c1", "error": None, "type": "invalid_tool_call"}


@pytest.mark.parametrize(
    ("message", "todos", "bounces", "early"),
    [
        (AIMessage("done"), OPEN, 0, True),
        (AIMessage(""), OPEN, 1, True),
        (AIMessage("done"), OPEN, 2, False),
        (AIMessage("done"), DONE, 0, False),
        (AIMessage("done"), [], 0, False),
        (None, OPEN, 0, False),
        (HumanMessage("done"), OPEN, 0, False),
        (AIMessage("done", tool_calls=[CALL]), OPEN, 0, False),
        (AIMessage("done", invalid_tool_calls=[BROKEN]), OPEN, 0, False),
        (AIMessage("done", additional_kwargs={"tool_calls": [{"id": "1", "function": {"name": "ls"}}]}), OPEN, 0, False),
        (AIMessage("done", additional_kwargs={"function_call": {"name": "ls"}}), OPEN, 0, False),
        (AIMessage("done", response_metadata={"finish_reason": "tool_calls"}), OPEN, 0, False),
        (AIMessage("done", response_metadata={"stop_reason": "tool_use"}), OPEN, 0, False),
        (AIMessage("done", response_metadata={"finish_reason": "stop"}), OPEN, 0, True),
        (AIMessage("do", response_metadata={"finish_reason": "length"}), OPEN, 0, False),
        *((AIMessage("done", additional_kwargs={STOP: why}), OPEN, 0, False)
          for why in ("LoopCapped", "SafetyCapped", "SubagentCapped", "ModelError", "TokenCapped", True)),
    ],
)  # fmt: skip
def test_what_is_an_early_end(
    message: AnyMessage | None, todos: list[TodoItem], bounces: int, early: bool
) -> None:
    assert ends_early(message, todos, bounces) is early


def test_lists_differ_by_order_content_and_status() -> None:
    assert digest(OPEN) == digest([*OPEN])
    assert len({digest(OPEN), digest(OPEN[::-1]), digest(DONE), digest([])}) == 4


def test_the_rules_go_after_the_system_prompt() -> None:
    assert with_plan_prompt(None).text == PLAN_PROMPT
    before = SystemMessage("Be good.", id="s")
    assert with_plan_prompt(before) == SystemMessage(f"Be good.\n\n{PLAN_PROMPT}", id="s")
    assert before.text == "Be good."
    blocks = SystemMessage([{"type": "text", "text": "Be good.", "cache_control": {"type": "ephemeral"}}])
    assert with_plan_prompt(blocks).content[:1] == blocks.content
    assert with_plan_prompt(blocks).text.endswith(PLAN_PROMPT)


def test_the_hooks() -> None:
    assert hooks_of(TodoList()) == (
        Hook.BEFORE_AGENT, Hook.BEFORE_MODEL, Hook.WRAP_MODEL_CALL, Hook.AFTER_MODEL, Hook.AFTER_AGENT,
    )  # fmt: skip


class Forget(AgentMiddleware[Any, Any, Any]):
    """Takes everything but the user's message out of a history that has grown, as a summary does."""

    @override
    async def abefore_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        if len(state["messages"]) < 4:
            return None
        return {"messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), state["messages"][0]]}


LIST = "{name: write_todos, args: {todos: [{content: look, status: completed}, {content: write, status: pending}]}}"
AWAY = r"""
steps:
- {expect: {contains: ['^system: You are an agent\.\n\nPlan mode is on'], tools: {include: [write_todos]}}, toolCalls: [LIST]}
- {expect: {absent: [still in force]}, toolCalls: [{name: ls}]}
- expect: {contains: ['human: Your list of todos is still in force[\s\S]*- .completed. look\n- .pending. write'], lastRole: human}
  toolCalls: [{name: ls}]
- {expect: {contains: [still in force]}, say: done}
- say: done
- say: done
""".replace("LIST", LIST)


@pytest.mark.parametrize("fused", [True, False])
async def test_a_list_that_was_forgotten_is_shown_once(world: RunnerWorld, fused: bool) -> None:
    runs = ThreadRuns(world, Forget(), TodoList(), fused=fused)
    result = await runs.play(document(AWAY))
    assert (result.outcome.message, result.answer) == ("", "done")
    kept = [m for m in await runs.messages() if m.additional_kwargs.get(TODO_REMINDER)]
    assert len(kept) == 1
    assert result.progress.todos is not None
    assert [todo.content for todo in result.progress.todos] == ["look", "write"]


async def test_another_process_knows_the_list(world: RunnerWorld) -> None:
    runs = ThreadRuns(world, TodoList())
    await runs.play(document(f"steps: [{{toolCalls: [{LIST}]}}{', {say: ok}' * 3}]"))
    result = await runs.play(document(f"steps: [{', '.join(['{say: ok}'] * 3)}]", run="r2"))
    assert result.progress.todos is not None
    assert len(result.progress.todos) == 2


class Again(AgentMiddleware[Any, Any, Any]):
    """Calls once more after an error, as a retrying row does."""

    @override
    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        try:
            return await handler(request)
        except ScriptedFault:
            return await handler(request)


EARLY = rf"""
steps:
- toolCalls: [{LIST}]
- {{expect: {{absent: [about to end]}}, say: early}}
- {{error: {{status: 500}}}}
- expect: {{contains: ['human: You were about to end with these todos open:\n- .pending. write\n'], lastRole: human}}
  toolCalls: [{{name: ls}}]
- {{expect: {{absent: [about to end]}}, say: late}}
- {{expect: {{contains: [about to end], lastRole: human}}, say: at last}}
"""


async def test_a_reminder_waits_until_a_call_has_returned_and_is_in_no_state(world: RunnerWorld) -> None:
    row = TodoList()
    runs = ThreadRuns(world, Again(), row)
    result = await runs.play(document(EARLY))
    # Twice, and no more.
    assert (result.outcome.message, result.answer) == ("", "at last")
    requests = [event["messages"] for event in world.sink.events("model.request")]
    assert requests[2] == requests[3]
    assert requests[2][-1]["name"] == COMPLETION_NAME
    assert COMPLETION_NAME not in [message.name for message in await runs.messages()]
    assert row.pending.waiting(RunKey("thread-1", "run-uid-1")) == ()


async def test_a_call_that_is_cancelled_delivers_nothing(world: RunnerWorld) -> None:
    row = TodoList()
    key = RunKey("thread-1", "run-uid-1")
    row.pending.put(key, "hint")
    called = asyncio.Event()

    class Hangs(AgentMiddleware[Any, Any, Any]):
        @override
        async def awrap_model_call(self, request: Any, handler: Any) -> Any:
            assert request.messages[-1].text == "hint"
            called.set()
            await asyncio.Event().wait()

    runs = ThreadRuns(world, row, Hangs())
    task = asyncio.create_task(runs.play(document()))
    await called.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert row.pending.waiting(key) == ("hint",)


async def test_both_ends_clean_up(world: RunnerWorld) -> None:
    row = TodoList()
    crashed, elsewhere = RunKey("thread-1", "crashed"), RunKey("thread-2", "crashed")
    for key in (crashed, elsewhere):
        row.pending.put(key, "old")

    class Late(AgentMiddleware[Any, Any, Any]):
        """Leaves a hint that no call will take."""

        @override
        async def aafter_model(self, state: Any, runtime: Any) -> None:
            row.pending.put(RunKey("thread-1", "run-uid-1"), "unused")

    runs = ThreadRuns(world, row, Late())
    result = await runs.play(document("steps: [{expect: {absent: ['human: old']}, say: ok}]"))
    assert result.outcome.message == ""
    assert row.pending.waiting(crashed) == ()
    assert row.pending.waiting(RunKey("thread-1", "run-uid-1")) == ()
    # Runs of other threads are alive for all we know.
    assert row.pending.waiting(elsewhere) == ("old",)
