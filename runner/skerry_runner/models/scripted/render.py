"""A model request as one text, for a script's `contains` and `absent`. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from skerry_runner.messages import render_content, role_of

__all__ = ["render_request"]


def render_request(messages: Sequence[BaseMessage]) -> str:
    """Per message `role: ` and its content, then one line per tool call."""
    return "\n".join(line for message in messages for line in _lines(message))


def _lines(message: BaseMessage) -> list[str]:
    role, content = role_of(message), render_content(message.content)
    if isinstance(message, ToolMessage):
        return [f"{role}: {message.name or '?'} ({message.status}): {content}"]
    lines = [f"{role}: {content}"]
    if isinstance(message, AIMessage):
        lines += [
            f"{role}: call {call['name']} {json.dumps(call['args'], ensure_ascii=False)}"
            for call in message.tool_calls
        ]
        lines += [f"{role}: call {call['name']} {call['args'] or ''}" for call in message.invalid_tool_calls]
    return lines
