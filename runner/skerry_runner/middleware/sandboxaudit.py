"""SandboxAudit: every bash command is judged before it runs, and leaves a record whatever the verdict.

A gate, not the sandbox (skerry_runner.audit): what is blocked never reaches the handler, what is warned of runs, and
its result says so.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
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
from skerry_runner.toolcalls import append_text

__all__ = ["SandboxAudit", "marked"]

_LONG = 1000
"""Commands of more characters are judged off the event loop."""


def marked(result: ToolMessage | Command[Any], call_id: str, note: str) -> ToolMessage | Command[Any]:
    """The result with a note at its end; the message keeps id, artifact and all else that it has."""
    if isinstance(result, ToolMessage):
        return result.model_copy(update={"content": append_text(cast("Any", result.content), note)})
    update = result.update
    if not isinstance(update, dict) or not isinstance(update.get("messages"), list):
        return result
    messages = [
        marked(message, call_id, note)
        if isinstance(message, ToolMessage) and message.tool_call_id == call_id
        else message
        for message in update["messages"]
    ]
    return replace(result, update={**update, "messages": messages})


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
