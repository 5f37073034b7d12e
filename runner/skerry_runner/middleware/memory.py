"""Memory: hands what was said to the memory when the agent is done. Facts are drawn later, outside the graph."""

from __future__ import annotations

from typing import Any

from langchain.agents.middleware.types import AgentMiddleware
from langgraph.runtime import Runtime
from typing_extensions import override

from skerry_runner.context import RunContext
from skerry_runner.memory.snapshot import snapshot_of
from skerry_runner.state import RunnerState

__all__ = ["Memory"]


class Memory(AgentMiddleware[RunnerState, RunContext, Any]):
    """The snapshot is written before the graph ends: a crash after that loses nothing, one before repeats the step."""

    state_schema = RunnerState

    @override
    async def aafter_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        context = runtime.context
        keeper = context.keeper
        if keeper is None:
            return None
        snapshot = snapshot_of(
            state["messages"],
            keeper.key(thread=context.thread, user=context.user, agent=context.agent),
            run=context.run,
            now=context.clock(),
            redact=context.calls.redact,
        )
        if snapshot is not None:
            await keeper.remember(snapshot)
        return None
