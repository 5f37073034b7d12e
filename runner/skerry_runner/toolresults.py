"""What rows write onto the result of a tool, whatever shape the tool gave it. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langgraph.types import Command

from skerry_runner.toolcalls import Content, append_text, prepend_text

__all__ = ["headed", "marked"]

Result = ToolMessage | Command[Any]


def marked(result: Result, call_id: str, note: str) -> Result:
    """The result with a note at its end; the message keeps id, artifact and all else that it has."""
    return _with_content(result, call_id, partial(append_text, text=note))


def headed(result: Result, call_id: str, note: str) -> Result:
    """Likewise with a note before all else."""
    return _with_content(result, call_id, partial(prepend_text, text=note))


def _with_content(result: Result, call_id: str, change: Callable[[Content], Content]) -> Result:
    if isinstance(result, ToolMessage):
        return result.model_copy(update={"content": change(cast("Any", result.content))})
    update = result.update
    if not isinstance(update, dict) or not isinstance(update.get("messages"), list):
        return result
    messages = [
        _with_content(message, call_id, change)
        if isinstance(message, ToolMessage) and message.tool_call_id == call_id
        else message
        for message in update["messages"]
    ]
    return replace(result, update={**update, "messages": messages})
