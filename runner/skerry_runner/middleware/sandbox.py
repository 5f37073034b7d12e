"""Sandbox: commits to graph state which sandbox the thread works in, tells the agent of one that was replaced
before this epoch, and lets go of it when the agent is done.

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
from skerry_runner.toolresults import headed

__all__ = ["Sandbox", "with_sandbox"]


def with_sandbox(result: ToolMessage | Command[Any], ref: SandboxRef) -> ToolMessage | Command[Any]:
    """The result with the sandbox written beside it; a Command that is no plain update stays as it is."""
    if isinstance(result, ToolMessage):
        return Command(update={"sandbox": ref, "messages": [result]})
    if result.update is None or isinstance(result.update, dict):
        return replace(result, update={**(result.update or {}), "sandbox": ref})
    return result


def _ref(sandbox_id: str | None, pod_uid: str | None) -> SandboxRef | None:
    if sandbox_id is None:
        return None
    return SandboxRef(id=sandbox_id) if pod_uid is None else SandboxRef(id=sandbox_id, pod=pod_uid)


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
        session = context.sandbox
        if (lost := session.lost_before(context.execution)) is not None:
            result = headed(result, request.tool_call["id"] or "", lost)
        # Behind the news: who is not told in this epoch is told in the next.
        ref = _ref(session.last_id, session.pod_uid)
        known = (request.state or {}).get("sandbox") or {}
        if ref is None or ref.items() <= known.items():
            return result
        return with_sandbox(result, ref)

    @override
    async def aafter_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        await runtime.context.sandbox.leave()
        return None
