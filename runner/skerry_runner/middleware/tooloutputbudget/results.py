"""The messages inside whatever a tool gave back, and the same thing with other messages. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import ToolMessage
from langgraph.types import Command

__all__ = ["ToolResult", "messages_in", "with_messages"]

ToolResult = ToolMessage | Command[Any]
_KEY = "messages"


def messages_in(result: ToolResult) -> list[ToolMessage]:
    """All tool messages that the result brings into the history."""
    found: list[ToolMessage] = []

    def note(message: ToolMessage) -> ToolMessage:
        found.append(message)
        return message

    _mapped(result, note)
    return found


def with_messages(result: ToolResult, changed: Mapping[int, ToolMessage]) -> ToolResult:
    """The result with some messages exchanged, by their place among `messages_in`; all else of it as it was."""
    if not changed:
        return result
    places = iter(range(len(messages_in(result))))
    return _mapped(result, lambda message: changed.get(next(places), message))


def _mapped(result: ToolResult, change: Callable[[ToolMessage], ToolMessage]) -> ToolResult:
    def within(value: Any) -> Any:
        if isinstance(value, ToolMessage):
            return change(value)
        if isinstance(value, (list, tuple)):
            return type(value)(within(item) if isinstance(item, ToolMessage) else item for item in value)
        return value

    if isinstance(result, ToolMessage):
        return change(result)
    update = result.update
    if isinstance(update, dict) and _KEY in update:
        return replace(result, update={**update, _KEY: within(update[_KEY])})
    if isinstance(update, (list, tuple)):
        pairs = [
            (pair[0], within(pair[1]))
            if isinstance(pair, (list, tuple)) and len(pair) == 2 and pair[0] == _KEY
            else pair
            for pair in update
        ]
        return replace(result, update=pairs)
    return result
