"""The row. Its guard against a premature end (after_model) will put texts into `pending`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime
from typing_extensions import override

from skerry_runner.context import RunContext
from skerry_runner.middleware.todolist.plan import (
    completion_message,
    list_reminder,
    out_of_sight,
    with_plan_prompt,
)
from skerry_runner.pending import Pending, RunKey
from skerry_runner.state import RunnerState
from skerry_runner.tools.write_todos import write_todos

__all__ = ["TodoList"]


def _key(context: RunContext) -> RunKey:
    return RunKey(context.thread, context.run)


class TodoList(AgentMiddleware[RunnerState, RunContext, Any]):
    """The list itself is the thread's and lives in graph state; it outlives its run."""

    state_schema = RunnerState
    tools: Sequence[BaseTool] = (write_todos,)

    def __init__(self) -> None:
        super().__init__()
        self.pending: Pending[str] = Pending()
        """Completion reminders for a run's next model call."""

    @override
    async def abefore_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        self.pending.clear_others(_key(runtime.context))
        return None

    @override
    async def abefore_model(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        todos, context = state.get("todos") or [], runtime.context
        # A new process knows the list from graph state alone.
        context.tally.plan(todos)
        if not out_of_sight(state["messages"], todos):
            return None
        return {"messages": [list_reminder(context.run, todos)]}

    @override
    async def awrap_model_call(
        self,
        request: ModelRequest[RunContext],
        handler: Callable[[ModelRequest[RunContext]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        key = _key(request.runtime.context)
        hints, messages = self.pending.waiting(key), request.messages
        if hints:
            messages = [*messages, completion_message(hints, messages[-1] if messages else None)]
        response = await handler(
            request.override(system_message=with_plan_prompt(request.system_message), messages=messages)
        )
        self.pending.delivered(key, hints)
        return response

    @override
    async def aafter_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        self.pending.clear(_key(runtime.context))
        return None
