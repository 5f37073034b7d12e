"""ToolErrorHandling: exceptions of tools as results."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphInterrupt

from skerry_runner.middleware.toolerrors import ToolErrorHandling, error_text
from skerry_runner.outcome import Redactor, RunEnded, app_error
from skerry_runner.tools.errors import ToolFailure


def request(call: Any) -> ToolCallRequest:
    runtime: Any = SimpleNamespace(context=SimpleNamespace(redact=Redactor()))
    return ToolCallRequest(call, None, {}, runtime)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ToolFailure("no such file"), "Error: no such file"),
        (ValueError("bad\nthing"), "Error: tool 'x' failed with ValueError: bad\nthing. "),
        (KeyError(), "Error: tool 'x' failed with KeyError: KeyError. "),
        (ValueError("y" * 900), f"Error: tool 'x' failed with ValueError: {'y' * 499}…. "),
    ],
)
def test_what_the_model_is_told(error: Exception, text: str) -> None:
    assert error_text("x", error).startswith(text)


@pytest.mark.parametrize(
    ("call", "name", "call_id"),
    [
        ({"name": "x", "args": {}, "id": "c1"}, "x", "c1"),
        ({"name": "", "args": {}, "id": None}, "unknown_tool", "missing_tool_call_id"),
    ],
)
async def test_an_exception_becomes_an_error_result(call: Any, name: str, call_id: str) -> None:
    async def failing(_: ToolCallRequest) -> ToolMessage:
        raise ValueError("oops")

    result = await ToolErrorHandling().awrap_tool_call(request(call), failing)
    assert isinstance(result, ToolMessage)
    assert (result.name, result.tool_call_id, result.status) == (name, call_id, "error")


@pytest.mark.parametrize(
    "error", [GraphInterrupt(()), asyncio.CancelledError(), RunEnded(app_error("X", "x"))]
)
async def test_what_is_not_the_tool_s_passes(error: BaseException) -> None:
    async def failing(_: ToolCallRequest) -> ToolMessage:
        raise error

    with pytest.raises(type(error)):
        await ToolErrorHandling().awrap_tool_call(request({"name": "x", "args": {}, "id": "c1"}), failing)
