"""The plan and its reminders as texts and decisions. Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from langchain_core.messages import (
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
)

from skerry_runner.finish import cut_by_length, finish_values, same_word
from skerry_runner.messages import HIDDEN, STOP
from skerry_runner.state import TodoItem
from skerry_runner.toolcalls import declared_calls
from skerry_runner.tools.write_todos import WRITE_TODOS

__all__ = [
    "BOUNCES_MAX", "COMPLETION_NAME", "PLAN_PROMPT", "REMINDER_NAME", "TODO_REMINDER", "completion_message", "completion_text",
    "digest", "ends_early", "list_reminder", "out_of_sight", "unfinished", "with_plan_prompt",
]  # fmt: skip

_FINISH_FIELDS = ("finish_reason", "stop_reason", "stopReason")
_ASKS = ("tool_calls", "function_call", "tool_use")
"""Finish reasons that announce calls, even where none is to be found."""
REMINDER_NAME = "todo_reminder"
COMPLETION_NAME = "todo_completion_reminder"
TODO_REMINDER = "todo_reminder"
"""Key in additional_kwargs: digest of the list that the message shows."""
BOUNCES_MAX = 2
"""How often a run's end is put off because of open todos."""
PLAN_PROMPT = (
    f"Plan mode is on. For work of several steps, first lay out the steps with `{WRITE_TODOS}`, then keep the list "
    "true: mark a step in_progress when you begin it and completed as soon as it is done, add what turns up, drop what "
    "is no longer needed. Every call replaces the whole list, so make one at a time. Skip the list for small requests. "
    "The list is no answer: when all is done, give the user the result itself in a message of its own."
)


def unfinished(todos: Sequence[TodoItem]) -> list[TodoItem]:
    """What is still to be done, in the list's order."""
    return [todo for todo in todos if todo["status"] != "completed"]


def ends_early(message: AnyMessage | None, todos: Sequence[TodoItem], bounces: int) -> bool:
    """Whether a message ends the run of the agent's own will, while there is something left to do.

    Not if a guard made it final, if it asks for a tool in whatever way, or if a limit of tokens cut it.
    """
    if not isinstance(message, AIMessage) or bounces >= BOUNCES_MAX or not unfinished(todos):
        return False
    if message.additional_kwargs.get(STOP) or declared_calls(message) or cut_by_length(message):
        return False
    said = (word for field in _FINISH_FIELDS for word in finish_values(message, field))
    return not any(same_word(word, asks) for word in said for asks in _ASKS)


def digest(todos: Sequence[TodoItem]) -> str:
    """Tells one list from another."""
    text = json.dumps([[todo["content"], todo["status"]] for todo in todos])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def out_of_sight(messages: Sequence[BaseMessage], todos: Sequence[TodoItem]) -> bool:
    """Whether something is to be done and the model can't see the list: neither as a call that worked nor as a reminder."""
    if not unfinished(todos):
        return False
    current = digest(todos)
    worked = {
        message.tool_call_id
        for message in messages
        if isinstance(message, ToolMessage) and message.status != "error"
    }
    for message in messages:
        if message.additional_kwargs.get(TODO_REMINDER) == current:
            return False
        if isinstance(message, AIMessage) and any(
            call["name"] == WRITE_TODOS and call["id"] in worked for call in message.tool_calls
        ):
            return False
    return True


def _lines(todos: Sequence[TodoItem]) -> str:
    return "\n".join(f"- [{todo['status']}] {todo['content']}" for todo in todos)


def list_reminder(run: str, todos: Sequence[TodoItem]) -> HumanMessage:
    """The hidden message that shows the whole list again."""
    shown = digest(todos)
    return HumanMessage(
        content=f"Your list of todos is still in force, although its call is out of sight by now:\n{_lines(todos)}\n"
        f"Go on with it, and keep it true with `{WRITE_TODOS}`.",
        id=f"{run}__todos_{shown}",
        name=REMINDER_NAME,
        additional_kwargs={HIDDEN: True, TODO_REMINDER: shown},
    )


def completion_text(todos: Sequence[TodoItem]) -> str:
    """What a model is told that wanted to end too early; names only what is open."""
    return (
        f"You were about to end with these todos open:\n{_lines(unfinished(todos))}\n"
        f"Finish them, or bring the list up to date with `{WRITE_TODOS}` if they are done or not needed; "
        "then give your final answer."
    )


def completion_message(hints: Sequence[str], after: AnyMessage | None) -> HumanMessage:
    """The hidden message at the end of one request; in no state."""
    return HumanMessage(
        content="\n\n".join(hints),
        id=f"{after.id if after else ''}__todo_completion",
        name=COMPLETION_NAME,
        additional_kwargs={HIDDEN: True, COMPLETION_NAME: True},
    )


def with_plan_prompt(system: SystemMessage | None) -> SystemMessage:
    """The system prompt with the rules of plan mode after it: always the same words, so that prefixes stay."""
    if system is None:
        return SystemMessage(content=PLAN_PROMPT)
    content = system.content
    new: str | list[str | dict[str, object]] = (
        f"{content}\n\n{PLAN_PROMPT}"
        if isinstance(content, str)
        else [*content, {"type": "text", "text": f"\n\n{PLAN_PROMPT}"}]
    )
    return system.model_copy(update={"content": new})
