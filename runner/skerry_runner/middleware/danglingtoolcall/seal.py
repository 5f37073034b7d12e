"""The last look at a request: whatever rows have done to it, calls and results are in pairs. Nothing but a walk, if all is well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware.types import ModelRequest
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.tools import BaseTool

from skerry_runner.middleware.danglingtoolcall.pairing import paired

__all__ = ["in_pairs", "with_pairs"]


def in_pairs(messages: Sequence[AnyMessage]) -> bool:
    """Whether behind each message with calls stand their results and nothing else, in the order of the calls."""
    due: list[str | None] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            if not due or due.pop() != message.tool_call_id:
                return False
        elif due:
            return False
        elif isinstance(message, AIMessage) and message.tool_calls:
            due = [call["id"] for call in reversed(message.tool_calls)]
    return not due


def with_pairs(request: ModelRequest[Any], *, detail_max: int) -> ModelRequest[Any]:
    """The request with a history that providers take; the same object, if its own is one."""
    names = frozenset(tool.name for tool in request.tools or () if isinstance(tool, BaseTool))
    messages = paired(request.messages, tools=names, detail_max=detail_max)
    return request if messages is request.messages else request.override(messages=list(messages))
