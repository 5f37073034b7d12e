"""Sandbox: commits to graph state which sandbox the thread works in, and lets go of it when the agent is done.

Tools acquire through the context's session, so that a call with bad arguments never costs a sandbox.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, cast

from langchain.agents.middleware.types import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Command
from typing_extensions import override

from skerry_api.phases import Acquire
from skerry_runner.context import RunContext
from skerry_runner.state import RunnerState, SandboxRef

__all__ = ["Sandbox", "with_sandbox"]


def with_sandbox(result: ToolMessage | Command[Any], sandbox_id: str) -> ToolMessage | Command[Any]:
    """The result with the sandbox's id written beside it; a Command that is no plain update stays as it is."""
    ref = SandboxRef(id=sandbox_id)
    if isinstance(result, ToolMessage):
        return Command(update={"sandbox": ref, "messages": [result]})
    if result.update is None or isinstance(result.update, dict):
        return replace(result, update={**(result.update or {}), "sandbox": ref})
    return result


class Sandbox(AgentMiddleware[RunnerState, RunContext, Any]):
    """The `async with` around the invocation releases on all other ways out."""

    state_schema = RunnerState

    @override
    async def abefore_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        if runtime.context.acquire is not Acquire.EAGER:
            return None
        sandbox = await runtime.context.sandbox.acquire()
        return {"sandbox": SandboxRef(id=sandbox.id)}

    @override
    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        context = cast("RunContext", request.runtime.context)
        result = await handler(request)
        used, known = context.sandbox.last_id, (request.state or {}).get("sandbox")
        if used is None or (known is not None and known["id"] == used):
            return result
        return with_sandbox(result, used)

    @override
    async def aafter_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        await runtime.context.sandbox.leave()
        return None
