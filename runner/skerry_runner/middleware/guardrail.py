"""Guardrail: providers decide whether this call of a tool, with these arguments, is made now.

What is denied never reaches the handler. The row records denials and missing decisions, never arguments.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC
from typing import Any, cast

from langchain.agents.middleware.types import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command
from typing_extensions import override

from skerry_api.document import RunDocument
from skerry_api.guardrail import Guardrail as GuardrailSettings
from skerry_runner.context import RunContext
from skerry_runner.events import GuardrailDecision, clip
from skerry_runner.guardrail.asking import Asked, Guards
from skerry_runner.guardrail.types import GuardedCall
from skerry_runner.outcome import Redactor
from skerry_runner.state import RunnerState
from skerry_runner.tools.call import is_resumed

__all__ = ["Guardrail"]

REASON_MAX = 500


class Guardrail(AgentMiddleware[RunnerState, RunContext, Any]):
    """There if the profile has a guardrail."""

    state_schema = RunnerState

    def __init__(self, document: RunDocument) -> None:
        super().__init__()
        self._document = document
        self._guards = Guards(document.guardrail or GuardrailSettings())

    @override
    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        if is_resumed(request):
            # It was allowed when it was asked. Were it denied now, the answer of a person would be lost.
            return await handler(request)
        context = cast("RunContext", request.runtime.context)
        call = self._call(request, context)
        asked = await self._guards.ask(call, context.policy)
        if not asked.decision.allow or asked.error is not None:
            context.journal.emit(_event(call, asked, context.redact), agent=context.agent)
        if asked.decision.allow:
            return await handler(request)
        reason = context.redact.cut(asked.decision.reason, REASON_MAX) or "no reason was given"
        code = f" ({asked.decision.code})" if asked.decision.code else ""
        return ToolMessage(
            content=f"Error: the call of '{call.tool}' was denied: {reason}{code}. It was not made. Take another way, "
            "or go on without it.",
            name=call.tool,
            tool_call_id=call.id,
            status="error",
        )

    def _call(self, request: ToolCallRequest, context: RunContext) -> GuardedCall:
        call, run = request.tool_call, self._document.run
        return GuardedCall(
            tool=call["name"],
            arguments=call["args"],
            id=call["id"] or "",
            agent=context.agent,
            run=context.run,
            run_name=run.name,
            namespace=run.namespace,
            profile=self._document.profile,
            thread=context.thread,
            user=context.user,
            time=context.clock().astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        )


def _event(call: GuardedCall, asked: Asked, redact: Redactor) -> GuardrailDecision:
    return GuardrailDecision(
        id=call.id,
        tool=clip(call.tool),
        decision="allow" if asked.decision.allow else "deny",
        provider=asked.provider,
        code=asked.decision.code or None,
        reason=clip(redact.cut(asked.decision.reason, REASON_MAX)) or None,
        error=clip(redact.cut(asked.error, REASON_MAX)) if asked.error is not None else None,
    )
