"""What an answer's tokens were used for, by its calls. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

from langchain_core.messages import AIMessage

from skerry_runner.messages import text_of
from skerry_runner.state import TodoItem
from skerry_runner.toolcalls import Declared, declared_calls
from skerry_runner.tools.write_todos import WRITE_TODOS

__all__ = ["ActionKind", "StepKind", "attribution"]

VERSION = 1
TASK, ASK, PRESENT = "task", "ask_clarification", "present_files"
SEARCHES = frozenset({"glob", "grep", "tool_search"})
NAME_MAX = 128
CONTENT_MAX = 200


class StepKind(StrEnum):
    TODO_UPDATE = "todo_update"
    SUBAGENT_DISPATCH = "subagent_dispatch"
    TOOL_BATCH = "tool_batch"
    FINAL_ANSWER = "final_answer"
    THINKING = "thinking"


class ActionKind(StrEnum):
    TODO_START = "todo_start"
    TODO_COMPLETE = "todo_complete"
    TODO_UPDATE = "todo_update"
    TODO_REMOVE = "todo_remove"
    SUBAGENT = "subagent"
    SEARCH = "search"
    PRESENT_FILES = "present_files"
    CLARIFICATION = "clarification"
    TOOL = "tool"


_KINDS = {
    TASK: ActionKind.SUBAGENT,
    ASK: ActionKind.CLARIFICATION,
    PRESENT: ActionKind.PRESENT_FILES,
}


def attribution(message: AIMessage, todos: Sequence[TodoItem]) -> dict[str, Any]:
    """What the message does; `todos` is the list before it. Plain JSON: {version, kind, shared, tool_call_ids, actions}.

    `shared`: several actions have one count of tokens between them.
    """
    calls = declared_calls(message)
    actions = [action for call in calls for action in _actions(call, todos)]
    return {
        "version": VERSION,
        "kind": _kind(calls, text_of(message)).value,
        "shared": len(actions) > 1,
        "tool_call_ids": [call.id for call in calls if call.id],
        "actions": actions,
    }


def _kind(calls: Sequence[Declared], text: str) -> StepKind:
    names = {call.name for call in calls}
    if not names:
        return StepKind.FINAL_ANSWER if text.strip() else StepKind.THINKING
    if TASK in names:
        return StepKind.SUBAGENT_DISPATCH
    return StepKind.TODO_UPDATE if names == {WRITE_TODOS} else StepKind.TOOL_BATCH


def _actions(call: Declared, todos: Sequence[TodoItem]) -> Iterator[dict[str, Any]]:
    name = (call.name or "unknown_tool")[:NAME_MAX]
    if name == WRITE_TODOS:
        changes = list(_changes(call.args or {}, todos)) or [(ActionKind.TODO_UPDATE, None)]
        for kind, content in changes:
            shown = {} if content is None else {"content": content[:CONTENT_MAX]}
            yield {"kind": kind.value, "tool_call_id": call.id, **shown}
        return
    yield {"kind": _tool_kind(name).value, "tool_call_id": call.id, "tool": name}


def _tool_kind(name: str) -> ActionKind:
    # Tools of servers are known by their names alone.
    searches = name in SEARCHES or "search" in name.lower()
    return _KINDS.get(name, ActionKind.SEARCH if searches else ActionKind.TOOL)


def _changes(args: Mapping[str, Any], before: Sequence[TodoItem]) -> Iterator[tuple[ActionKind, str | None]]:
    """What a new list changes; entries are known by their text."""
    listed = args.get("todos")
    after = {
        str(todo.get("content")): todo.get("status")
        for todo in (listed if isinstance(listed, list) else ())
        if isinstance(todo, Mapping)
    }
    old: dict[str, str] = {todo["content"]: todo["status"] for todo in before}
    for content, status in after.items():
        if old.get(content) == status:
            continue
        if status == "in_progress":
            yield ActionKind.TODO_START, content
        elif status == "completed":
            yield ActionKind.TODO_COMPLETE, content
        else:
            yield ActionKind.TODO_UPDATE, content
    for content in old:
        if content not in after:
            yield ActionKind.TODO_REMOVE, content
