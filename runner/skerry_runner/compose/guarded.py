"""The guard around every row's `wrap_tool_call`: a fault of ours must not kill a run, nor hide a tool's result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from skerry_runner.compose.rows import Hook, OnFault, RowFault
from skerry_runner.outcome import RunEnded

__all__ = ["ToolHandler", "ToolResult", "ToolWrap", "guarded"]

ToolResult = ToolMessage | Command[Any]
ToolHandler = Callable[[ToolCallRequest], Awaitable[ToolResult]]
ToolWrap = Callable[[ToolCallRequest, ToolHandler], Awaitable[ToolResult]]


def guarded(row: str, wrap: ToolWrap, on_fault: OnFault) -> ToolWrap:
    """Guard a row: an exception before its handler was called becomes an error result, one after keeps the result.

    What the handler itself raises passes unchanged, and so do interrupts, cancellation and RunEnded.
    """

    async def call(request: ToolCallRequest, handler: ToolHandler) -> ToolResult:
        results: list[ToolResult] = []
        passing: list[BaseException] = []

        async def watched(inner: ToolCallRequest) -> ToolResult:
            try:
                result = await handler(inner)
            except BaseException as error:
                passing.append(error)
                raise
            results.append(result)
            return result

        try:
            return await wrap(request, watched)
        except (GraphBubbleUp, RunEnded):
            raise
        except Exception as error:
            if any(error is seen for seen in passing):
                raise
            call_id = request.tool_call["id"] or ""
            fault = RowFault(row, Hook.WRAP_TOOL_CALL, type(error).__name__, str(error), call_id)
            on_fault(request.runtime.context, fault)
            if results:
                return results[-1]
            name = request.tool_call["name"]
            return ToolMessage(
                content=f"Error: the call of '{name}' was not made: {row} failed with {fault.error}. "
                "Go on without it, or try another way.",
                name=name,
                tool_call_id=call_id,
                status="error",
            )

    return call
