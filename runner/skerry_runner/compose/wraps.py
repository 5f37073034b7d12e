"""Nest the wrap hooks of the rows: the first row is the outermost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware.types import (
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    ToolCallRequest,
)
from langchain_core.messages import AIMessage
from langgraph.types import Command

from skerry_runner.compose.guarded import ToolHandler, ToolResult, ToolWrap, guarded
from skerry_runner.compose.rows import OnFault, Row

__all__ = ["ModelHandler", "ModelResult", "ModelWrap", "Seal", "nest_model_wraps", "nest_tool_wraps"]

ModelResult = ModelResponse[Any] | AIMessage | ExtendedModelResponse[Any]
ModelHandler = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
Seal = Callable[[ModelRequest[Any]], ModelRequest[Any]]
"""The last look at a request: the same one, or what must be sent instead."""
ModelWrap = Callable[[ModelRequest[Any], ModelHandler], Awaitable[ModelResult]]


def _split(result: ModelResult) -> tuple[ModelResponse[Any], Command[Any] | None]:
    if isinstance(result, ExtendedModelResponse):
        return result.model_response, result.command
    if isinstance(result, AIMessage):
        return ModelResponse(result=[result]), None
    return result, None


def _merged(commands: Sequence[Command[Any]]) -> Command[Any] | None:
    if len(commands) < 2:
        return commands[0] if commands else None
    # Pairs rather than a dict: two rows may write one key, and the reducer must see both.
    return Command(update=[pair for command in commands for pair in command._update_as_tuples()])  # noqa: SLF001 - the only reader of all its forms


def nest_model_wraps(rows: Sequence[Row], seal: Seal | None = None) -> ModelWrap:
    """Compose `awrap_model_call`; each layer sees a ModelResponse, commands reach the graph inner first.

    A layer that calls its handler again drops what the first attempt wanted written.
    """
    wraps: list[ModelWrap] = [row.awrap_model_call for row in rows]

    async def composed(request: ModelRequest[Any], handler: ModelHandler) -> ModelResult:
        async def layer(
            index: int, request: ModelRequest[Any], commands: list[Command[Any]]
        ) -> ModelResponse[Any]:
            if index == len(wraps):
                return await handler(request if seal is None else seal(request))
            inner: list[Command[Any]] = []

            async def below(request: ModelRequest[Any]) -> ModelResponse[Any]:
                inner.clear()
                return await layer(index + 1, request, inner)

            response, command = _split(await wraps[index](request, below))
            commands.extend(inner)
            if command is not None:
                commands.append(command)
            return response

        commands: list[Command[Any]] = []
        response = await layer(0, request, commands)
        merged = _merged(commands)
        return response if merged is None else ExtendedModelResponse(model_response=response, command=merged)

    return composed


def nest_tool_wraps(rows: Sequence[Row], on_fault: OnFault) -> ToolWrap:
    """Compose `awrap_tool_call`, each row guarded."""
    wraps = [guarded(row.name, row.awrap_tool_call, on_fault) for row in rows]

    async def composed(request: ToolCallRequest, handler: ToolHandler) -> ToolResult:
        async def layer(index: int, request: ToolCallRequest) -> ToolResult:
            if index == len(wraps):
                return await handler(request)
            return await wraps[index](request, lambda inner: layer(index + 1, inner))

        return await layer(0, request)

    return composed
