"""The row. Last of the rows to see an answer: what a guard has stopped it leaves alone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse, hook_config
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool
from langgraph.runtime import Runtime
from typing_extensions import override

from skerry_runner.context import RunContext
from skerry_runner.middleware.rungate import cap_of
from skerry_runner.middleware.todolist.plan import (
    completion_message,
    completion_text,
    ends_early,
    list_reminder,
    out_of_sight,
    unfinished,
    with_plan_prompt,
)
from skerry_runner.pending import Pending, RunKey
from skerry_runner.state import RunLimits, RunnerState, TodoItem
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
        hints, messages = self._hints(request), request.messages
        if hints:
            messages = [*messages, completion_message(hints, messages[-1] if messages else None)]
        response = await handler(
            request.override(system_message=with_plan_prompt(request.system_message), messages=messages)
        )
        self.pending.delivered(key, hints)
        return response

    def _hints(self, request: ModelRequest[RunContext]) -> tuple[str, ...]:
        hints = self.pending.waiting(_key(request.runtime.context))
        last = request.messages[-1] if request.messages else None
        todos = cast("list[TodoItem]", request.state.get("todos") or [])
        if not hints and isinstance(last, AIMessage) and unfinished(todos):
            # A process ended between the end that was put off and this call; the hint went with it.
            return (completion_text(todos),)
        return hints

    @hook_config(can_jump_to=["model"])
    @override
    async def aafter_model(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        context, todos = runtime.context, state.get("todos") or []
        last = state["messages"][-1] if state["messages"] else None
        kept = (state.get("limits") or {}).get(context.run, RunLimits())
        bounces = kept.get("todo_bounces", 0)
        # An answer that no call may follow is the run's answer.
        if not ends_early(last, todos, bounces) or cap_of(kept, context) is not None:
            return None
        self.pending.put(_key(context), completion_text(todos))
        return {"limits": {context.run: RunLimits(todo_bounces=bounces + 1)}, "jump_to": "model"}

    @override
    async def aafter_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        self.pending.clear(_key(runtime.context))
        return None
