"""Ties the playhead to graph state: the place is written in the same step as the answer it led to."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from langchain.agents.middleware.types import (
    AgentMiddleware,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
)
from langgraph.types import Command
from typing_extensions import override

from skerry_runner.models.scripted.model import ScriptedModel
from skerry_runner.state import RunnerState

__all__ = ["ScriptCursor"]


class ScriptCursor(AgentMiddleware[RunnerState, Any, Any]):
    """Not a row of the pipeline but the model's own adapter: the innermost wrap, and only for scripted models."""

    state_schema = RunnerState

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any] | ExtendedModelResponse[Any]:
        model = request.model
        if not isinstance(model, ScriptedModel):
            return await handler(request)
        playhead, kept = model.playhead, cast("RunnerState", request.state).get("script") or {}
        playhead.seed(model.part, kept.get(playhead.key, 0))
        response = await handler(request)
        update = {"script": {playhead.key: playhead.position(model.part)}}
        return ExtendedModelResponse(model_response=response, command=Command(update=update))
