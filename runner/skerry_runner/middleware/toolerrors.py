"""ToolErrorHandling: what a tool raises becomes a result that the model can work with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from langchain.agents.middleware.types import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command
from typing_extensions import override

from skerry_runner.context import RunContext
from skerry_runner.outcome import RunEnded
from skerry_runner.state import RunnerState
from skerry_runner.subagents.result import TASK, failed_message
from skerry_runner.tools.errors import ToolFailure

__all__ = ["ToolErrorHandling", "error_text"]

DETAIL_MAX = 500


def error_text(name: str, error: Exception, redact: Callable[[str], str] = str) -> str:
    """What the model is told. A ToolFailure speaks for itself."""
    if isinstance(error, ToolFailure):
        return f"Error: {error}"
    detail = redact(str(error)).strip() or type(error).__name__
    if len(detail) > DETAIL_MAX:
        detail = detail[: DETAIL_MAX - 1] + "…"
    return (
        f"Error: tool '{name}' failed with {type(error).__name__}: {detail}. "
        "Carry on with what you have, or choose another tool."
    )


class ToolErrorHandling(AgentMiddleware[RunnerState, RunContext, Any]):
    """Innermost of the base rows. Interrupts, cancellation and RunEnded pass."""

    state_schema = RunnerState

    @override
    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        name = request.tool_call["name"] or "unknown_tool"
        try:
            result = await handler(request)
        except (GraphBubbleUp, RunEnded):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the model decides what next
            context = cast("RunContext", request.runtime.context)
            result = ToolMessage(
                content=error_text(name, error, context.redact),
                name=name,
                tool_call_id=request.tool_call["id"] or "missing_tool_call_id",
                status="error",
            )
        # Whatever came of `task` says so in its kwargs: nobody may have to read it from a text.
        return failed_message(result) if name == TASK and isinstance(result, ToolMessage) else result
