"""Clarification: a question of the agent pauses the run until a person has answered.

LangGraph's interrupt() in the innermost wrap: calls beside it finish and are saved, the model is not called, and the
answer runs this call alone again, through all wraps. RunGate keeps calls behind the question from starting.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, cast

from langchain.agents.middleware.types import AgentMiddleware, ToolCallRequest
from langchain_core.messages import ToolMessage
from langgraph.types import Command, interrupt
from typing_extensions import override

from skerry_api.report import Question
from skerry_api.rows.clarification import ClarificationSettings
from skerry_runner.context import RunContext
from skerry_runner.events import QuestionAsked, clip
from skerry_runner.outcome import mapped
from skerry_runner.questions import ASK, BadQuestion, question_id, question_of
from skerry_runner.state import RunnerState
from skerry_runner.tools.call import place_of

__all__ = ["Clarification"]


class Clarification(AgentMiddleware[RunnerState, RunContext, Any]):
    """Needs a checkpointer; subagents have neither it nor the tool."""

    state_schema = RunnerState

    def __init__(self, settings: ClarificationSettings) -> None:
        super().__init__()
        self._settings = settings

    @override
    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        call = request.tool_call
        if call["name"] != ASK:
            return await handler(request)
        context, call_id = cast("RunContext", request.runtime.context), call["id"] or ""
        place = place_of((request.state or {}).get("messages", ()), call_id)
        try:
            question = question_of(mapped(call["args"], context.redact), question_id(context.run, *place))
        except BadQuestion as error:
            return ToolMessage(content=f"Error: {error}", name=ASK, tool_call_id=call_id, status="error")
        if not self._settings.enabled:
            # The tool itself is stricter than we are.
            args = {"question": question.text}
            return await handler(request.override(tool_call={**call, "args": args}))
        if question.id not in context.resumes:
            context.journal.emit(_event(question, call_id), agent=context.agent)
        answer = interrupt(question.wire())
        return ToolMessage(content=str(answer), name=ASK, tool_call_id=call_id)


def _event(question: Question, call_id: str) -> QuestionAsked:
    return QuestionAsked(
        id=question.id,
        call=call_id,
        kind=question.type,
        text=clip(question.text or ""),
        context=question.context,
        options=question.options,
    )
