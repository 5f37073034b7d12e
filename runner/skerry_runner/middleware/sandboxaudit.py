"""SandboxAudit: every bash command is judged before it runs, and leaves a record whatever the verdict.

A gate, not the sandbox (skerry_runner.audit): what is blocked never reaches the handler, what is warned of runs, and
its result says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

from langchain.agents.middleware.types import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command
from typing_extensions import override

from skerry_api.agentprofile import ToolName
from skerry_api.rows.sandboxaudit import SandboxAuditSettings
from skerry_runner.audit import Audit, Verdict, audit
from skerry_runner.context import RunContext
from skerry_runner.events import AuditCommand, clip
from skerry_runner.state import RunnerState
from skerry_runner.toolresults import marked

__all__ = ["SandboxAudit"]

_LONG = 1000
"""Commands of more characters are judged off the event loop."""


class SandboxAudit(AgentMiddleware[RunnerState, RunContext, Any]):
    """Looks at the tool `bash` alone."""

    state_schema = RunnerState

    def __init__(self, settings: SandboxAuditSettings) -> None:
        super().__init__()
        self._settings = settings

    def _ask(self, command: str) -> Audit:
        return audit(
            command, chars_max=self._settings.max_command_chars, ignored=self._settings.ignored_rules
        )

    async def _judge(self, command: str) -> Audit:
        return self._ask(command) if len(command) <= _LONG else await asyncio.to_thread(self._ask, command)

    @override
    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        call = request.tool_call
        if call["name"] != ToolName.BASH.value:
            return await handler(request)
        given = call["args"].get("command")
        command = "" if given is None else str(given)
        found = await self._judge(command)
        context = cast("RunContext", request.runtime.context)
        call_id = call["id"] or ""
        context.journal.emit(
            AuditCommand(
                id=call_id,
                command=clip(command),
                chars=len(command),
                verdict=found.verdict.value,
                rules=found.rules,
            ),
            agent=context.agent,
        )
        if found.verdict is Verdict.BLOCK:
            return ToolMessage(
                content=f"Error: the command was not run: {found.reasons()}. Do it in another way, or do without.",
                name=call["name"],
                tool_call_id=call_id,
                status="error",
            )
        result = await handler(request)
        if found.verdict is Verdict.WARN:
            return marked(result, call_id, f"[audit: mind this command: {found.reasons()}]")
        return result
