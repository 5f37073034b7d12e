"""The row: rebuilds the request on its way in, mends the answer on its way out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage
from typing_extensions import override

from skerry_api.rows.danglingtoolcall import DanglingToolCallSettings
from skerry_runner.context import RunContext
from skerry_runner.middleware.danglingtoolcall.mend import mended
from skerry_runner.middleware.danglingtoolcall.pairing import intact
from skerry_runner.middleware.danglingtoolcall.seal import with_pairs
from skerry_runner.permessage import WellSoFar
from skerry_runner.state import RunnerState

__all__ = ["DanglingToolCall"]


class DanglingToolCall(AgentMiddleware[RunnerState, RunContext, Any]):
    """Outside LLMErrorHandling: every attempt of a call sends the same request."""

    state_schema = RunnerState

    def __init__(self, settings: DanglingToolCallSettings) -> None:
        super().__init__()
        self._settings = settings
        self._intact = WellSoFar(intact)

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[RunContext],
        handler: Callable[[ModelRequest[RunContext]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        if not self._intact(request.messages):
            request = with_pairs(request, detail_max=self._settings.max_error_chars)
        response = await handler(request)
        result = [
            mended(message) if isinstance(message, AIMessage) else message for message in response.result
        ]
        if all(new is old for new, old in zip(result, response.result, strict=True)):
            return response
        return replace(response, result=result)
