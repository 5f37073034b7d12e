"""The row. It only notes: totals, cost and limits are RunGate's, whether this row is there or not."""

from __future__ import annotations

from typing import Any

from langchain.agents.middleware.types import AgentMiddleware
from langgraph.runtime import Runtime
from typing_extensions import override

from skerry_runner.context import RunContext
from skerry_runner.middleware.tokenusage.merge import rewritten
from skerry_runner.state import RunnerState

__all__ = ["TokenUsage"]


class TokenUsage(AgentMiddleware[RunnerState, RunContext, Any]):
    """Late in after_model's order: the message is by then what the guards have left of it."""

    state_schema = RunnerState

    @override
    async def aafter_model(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        changed = rewritten(state["messages"], state.get("todos") or [])
        return {"messages": changed} if changed else None
