"""The row. Registered late, so that its after_model runs first: nobody counts or runs calls that are not to be trusted."""

from __future__ import annotations

from typing import Any

from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from typing_extensions import override

from skerry_api.rows.safetyfinishreason import SafetyFinishReasonSettings
from skerry_runner import events
from skerry_runner.context import RunContext
from skerry_runner.messages import STOP
from skerry_runner.middleware.safetyfinishreason.detect import safety_stop
from skerry_runner.middleware.safetyfinishreason.rewrite import made_safe
from skerry_runner.state import RunnerState

__all__ = ["SafetyFinishReason"]


class SafetyFinishReason(AgentMiddleware[RunnerState, RunContext, Any]):
    """Leaves its signals in the message and in the journal, whose lines are the stream for whoever watches."""

    state_schema = RunnerState

    def __init__(self, settings: SafetyFinishReasonSettings) -> None:
        super().__init__()
        self._settings = settings

    @override
    async def aafter_model(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        last = state["messages"][-1] if state["messages"] else None
        if not isinstance(last, AIMessage) or last.additional_kwargs.get(STOP):
            return None
        stop = safety_stop(last, self._settings.adapters)
        if stop is None:
            return None
        safe = made_safe(last, stop)
        event = events.SafetyTermination(
            id=last.id,
            adapter=stop.adapter,
            field=stop.field,
            value=stop.value,
            action=safe.action,
            suppressed=tuple(events.clip(name) for name in safe.suppressed),
        )
        runtime.context.journal.emit(event, agent=runtime.context.agent)
        return {"messages": [safe.message]}
