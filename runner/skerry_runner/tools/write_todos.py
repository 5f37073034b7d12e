"""write_todos: the agent's list of what is to be done, written as a whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.types import Command
from pydantic import BaseModel, ConfigDict, Field

from skerry_runner.events import TodoEntry, TodoWritten
from skerry_runner.state import TodoItem
from skerry_runner.tools.call import Runtime, context_of, place_of
from skerry_runner.tools.errors import ToolFailure

__all__ = ["TODOS_MAX", "TODO_CHARS", "WRITE_TODOS", "Todo", "report_of", "write_todos"]

WRITE_TODOS = "write_todos"
TODOS_MAX = 64
TODO_CHARS = 500
_ORDER = ("completed", "in_progress", "pending")


class Todo(BaseModel):
    """One step."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    content: Annotated[
        str, Field(min_length=1, max_length=TODO_CHARS, description="What is to be done, in a few words.")
    ]
    status: Annotated[Literal["pending", "in_progress", "completed"], Field(description="How far it is.")]


def report_of(todos: Sequence[TodoItem]) -> str:
    """The result that the model gets; the list itself stands in its call."""
    if not todos:
        return "OK: the list is empty now"
    counts: Counter[str] = Counter(todo["status"] for todo in todos)
    told = ", ".join(f"{counts[status]} {status.replace('_', ' ')}" for status in _ORDER if counts[status])
    return f"OK: {len(todos)} todo{'s' if len(todos) > 1 else ''}: {told}"


def _written_twice(messages: Sequence[Any], call_id: str) -> bool:
    """Whether the message that makes this call makes another one of its kind."""
    message_id, _ = place_of(messages, call_id)
    return any(
        isinstance(message, AIMessage)
        and message.id == message_id
        and sum(call["name"] == WRITE_TODOS for call in message.tool_calls) > 1
        for message in messages
    )


@tool(WRITE_TODOS)
async def write_todos(
    todos: Annotated[
        list[Todo],
        Field(max_length=TODOS_MAX, description="The whole list, in order; it replaces the old one."),
    ],
    runtime: Runtime,
) -> Command[Any]:
    """Write your list of todos: the steps of the work at hand and how far each is.

    Use it for work of three steps or more, and call it again whenever something changes: a step begins, ends, turns up
    or falls away. It replaces the whole list, so call it at most once in a message.
    """
    context, call_id = context_of(runtime), runtime.tool_call_id or ""
    if _written_twice(runtime.state["messages"], call_id):
        raise ToolFailure(
            f"{WRITE_TODOS} was called more than once in one message, so it is unclear which list stands: none was "
            "written. Call it once, with the whole list"
        )
    items = [TodoItem(content=todo.content, status=todo.status) for todo in todos]
    context.tally.plan(items)
    entries = tuple(TodoEntry(content=item["content"], status=item["status"]) for item in items)
    context.journal.emit(TodoWritten(todos=entries), agent=context.agent)
    message = ToolMessage(content=report_of(items), name=WRITE_TODOS, tool_call_id=call_id)
    return Command(update={"todos": items, "messages": [message]})
