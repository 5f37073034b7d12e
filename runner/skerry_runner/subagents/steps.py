"""Watches a subagent from within its graph: journals each answer, keeps last words of work that is cut short."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from typing_extensions import override

from skerry_runner.context import RunContext
from skerry_runner.events import Call, Event, SubagentStep, clip
from skerry_runner.messages import text_of
from skerry_runner.state import RunnerState
from skerry_runner.usage import Tally, counts_of

__all__ = ["KeptTotals", "SubagentSteps", "restore"]


def restore(tally: Tally, state: Mapping[str, Any], run: str) -> None:
    """If another process began this execution, take over what it had used by then, once."""
    kept = (state.get("limits") or {}).get(run)
    if kept and not tally.counts.model_calls:
        tally.restore(counts_of(kept))


class KeptTotals(AgentMiddleware[RunnerState, RunContext, Any]):
    """First of all: a limit must not be evaded by a restart in mid-work, of which the lead's own state knows nothing."""

    state_schema = RunnerState

    @override
    async def abefore_model(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        restore(runtime.context.tally, state, runtime.context.run)
        return None


class SubagentSteps(AgentMiddleware[RunnerState, RunContext, Any]):
    """Not a row of the pipeline but the execution's own adapter; one for each."""

    state_schema = RunnerState

    def __init__(self, execution: str, tell: Callable[[Event], None]) -> None:
        super().__init__()
        self._execution = execution
        self._tell = tell
        self.last_words = ""

    @override
    async def aafter_model(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        last = state["messages"][-1]
        if not isinstance(last, AIMessage):
            return None
        if text := text_of(last).strip():
            self.last_words = text
        self._tell(
            SubagentStep(
                id=self._execution,
                step=runtime.context.tally.counts.turns,
                message=last.id,
                chars=len(text_of(last)),
                tool_calls=tuple(Call(id=call["id"], name=clip(call["name"])) for call in last.tool_calls),
            )
        )
        return None
