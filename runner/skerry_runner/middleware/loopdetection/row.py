"""The row: counts after the model, warns in the next request, stops by rewriting the message."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from typing_extensions import override

from skerry_api.rows.loopdetection import LoopDetectionSettings
from skerry_runner.context import RunContext
from skerry_runner.events import LoopStop, LoopWarning, clip
from skerry_runner.messages import STOP
from skerry_runner.middleware.loopdetection.judge import Finding, judged
from skerry_runner.middleware.loopdetection.texts import stopped, warning_message, warning_text
from skerry_runner.pending import Pending, RunKey
from skerry_runner.state import LoopCounts, RunnerState
from skerry_runner.toolcalls import declared_calls

__all__ = ["LoopDetection"]

WARNINGS_MAX = 4
"""Warnings in one request."""


def _key(context: RunContext) -> RunKey:
    return RunKey(context.thread, context.run)


def _told(found: Finding) -> dict[str, Any]:
    names = tuple(clip(name) for name in found.tools)
    return {"layer": found.layer, "tools": names, "count": found.count, "limit": found.limit}


class LoopDetection(AgentMiddleware[RunnerState, RunContext, Any]):
    """What was counted is the run's and lives in graph state; what is still to be said lives here."""

    state_schema = RunnerState

    def __init__(self, settings: LoopDetectionSettings | None = None) -> None:
        super().__init__()
        self._settings = settings or LoopDetectionSettings()
        self.pending: Pending[str] = Pending()
        """Warnings for a run's next model call."""

    @override
    async def abefore_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        self.pending.clear_others(_key(runtime.context))
        return None

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[RunContext],
        handler: Callable[[ModelRequest[RunContext]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        key = _key(request.runtime.context)
        hints = self.pending.waiting(key)[:WARNINGS_MAX]
        if not hints:
            return await handler(request)
        # At the very end: behind the results, never between a call and its result.
        last = request.messages[-1] if request.messages else None
        response = await handler(request.override(messages=[*request.messages, warning_message(hints, last)]))
        self.pending.delivered(key, hints)
        return response

    @override
    async def aafter_model(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        context = runtime.context
        last = state["messages"][-1] if state["messages"] else None
        if not isinstance(last, AIMessage) or last.additional_kwargs.get(STOP):
            return None
        calls = declared_calls(last)
        if not calls:
            return None
        kept = (state.get("loops") or {}).get(context.run, LoopCounts())
        verdict = judged(kept, calls, self._settings)
        update: dict[str, Any] = {"loops": {context.run: verdict.counts}}
        if verdict.stops:
            for found in verdict.stops:
                context.journal.emit(LoopStop(**_told(found)), agent=context.agent)
            return {**update, "messages": [stopped(last, verdict.stops[0])]}
        for found in verdict.warnings:
            context.journal.emit(LoopWarning(**_told(found)), agent=context.agent)
            self.pending.put(_key(context), warning_text(found))
        return update

    @override
    async def aafter_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        self.pending.clear(_key(runtime.context))
        return None
