"""RunGate: the first row, always on. Holds a run to its limits, records tool calls, asks once after silence."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, cast

from langchain.agents.middleware.types import AgentMiddleware, ToolCallRequest, hook_config
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.runtime import Runtime
from langgraph.types import Command
from typing_extensions import override

from skerry_api.phases import StopReason
from skerry_runner.budget import Cap
from skerry_runner.context import RunContext
from skerry_runner.events import ToolCall, ToolResult, clip
from skerry_runner.messages import HIDDEN, STOP, is_final, render_content, text_of
from skerry_runner.outcome import mapped
from skerry_runner.questions import ASK, comes_after_question
from skerry_runner.state import RunLimits, RunnerState, RunStop
from skerry_runner.tools.call import is_resumed
from skerry_runner.usage import Tally

__all__ = [
    "ASK_AGAIN",
    "RunGate",
    "asks_again",
    "cap_of",
    "may_call",
    "not_started",
    "only_broken_calls",
    "tool_message_of",
]

ASK_AGAIN = "skerry_empty_answer"
"""Flag of the hidden message that asks again after an empty answer."""
_ASK_AGAIN_TEXT = "Your last reply was empty. Give your answer now, or call a tool if there is more to do."
ASKED_AT_MOST = 1


def may_call(limits: RunLimits, max_turns: int) -> bool:
    """Whether the model may be called once more."""
    return limits.get("turns", 0) < max_turns


def cap_of(limits: RunLimits, context: RunContext) -> Cap | None:
    """The limit that keeps the model from being called once more; money first, since that is a failure."""
    if (spent := context.budget.spent(context.tally.whole)) is not None:
        return spent
    if context.max_tokens is not None and context.tally.counts.total >= context.max_tokens:
        return StopReason.TOKEN_CAPPED
    return None if may_call(limits, context.max_turns) else StopReason.TURN_CAPPED


def asks_again(messages: Sequence[AnyMessage], limits: RunLimits) -> bool:
    """Whether the run would end with an empty answer that was not asked for again yet."""
    last = messages[-1] if messages else None
    if not isinstance(last, AIMessage) or not is_final(last) or last.additional_kwargs.get(STOP):
        return False
    return not text_of(last).strip() and limits.get("empty_answers", 0) < ASKED_AT_MOST


def only_broken_calls(messages: Sequence[AnyMessage]) -> bool:
    """Whether the newest message asks for tools, but none of its calls can be made.

    LangChain would end the run there as if it were answered; the model is to hear of it instead. Turns bound it.
    """
    last = messages[-1] if messages else None
    if not isinstance(last, AIMessage) or last.additional_kwargs.get(STOP):
        return False
    return bool(last.invalid_tool_calls) and not last.tool_calls


def tool_message_of(result: ToolMessage | Command[Any], call_id: str) -> ToolMessage | None:
    """The call's own message in whatever its tool gave back."""
    if isinstance(result, ToolMessage):
        return result
    messages = result.update.get("messages", ()) if isinstance(result.update, dict) else ()
    found = [m for m in messages if isinstance(m, ToolMessage) and m.tool_call_id == call_id]
    return found[-1] if found else None


def _kept(state: RunnerState, run: str) -> RunLimits:
    return (state.get("limits") or {}).get(run, RunLimits())


def _totals(tally: Tally) -> RunLimits:
    now = tally.counts
    return RunLimits(
        turns=now.turns,
        model_calls=now.model_calls,
        input=now.input,
        output=now.output,
        total=now.total,
        internal=now.internal,
        subagents=now.subagents,
        cost=now.cost,
    )


def not_started(call_id: str, name: str) -> ToolMessage:
    """The result of a call behind a question."""
    if name == ASK:
        words = f"Not asked: one question at a time. Another {ASK} stands before it in the same message; ask again if this one is still open once you have read that call's result."
    else:
        words = f"Not started: an {ASK} stands before this call in the same message, and what comes of that is for you to read first, be it an answer or a refusal. Make the call again if you still want it then."
    return ToolMessage(content=words, name=name, tool_call_id=call_id, status="error")


class RunGate(AgentMiddleware[RunnerState, RunContext, Any]):
    """Limits live in graph state keyed by run: a new epoch starts from them. `pauses`: a question stops its message."""

    state_schema = RunnerState

    def __init__(self, *, pauses: bool = False) -> None:
        super().__init__()
        self._pauses = pauses

    @hook_config(can_jump_to=["end"])
    @override
    async def abefore_model(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        context = runtime.context
        kept = _kept(state, context.run)
        if (cap := cap_of(kept, context)) is not None:
            stop = RunStop(run=context.run, reason=cap.value)
            return {"limits": {context.run: _totals(context.tally)}, "stop": stop, "jump_to": "end"}
        context.tally.turn(kept.get("turns", 0) + 1)
        return {"limits": {context.run: _totals(context.tally)}}

    # The row's after_model runs last of all: whatever a guard said instead of nothing has been said by then.
    @hook_config(can_jump_to=["model"])
    @override
    async def aafter_model(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        context = runtime.context
        kept = _kept(state, context.run)
        totals = _totals(context.tally)
        if only_broken_calls(state["messages"]):
            return {"limits": {context.run: totals}, "jump_to": "model"}
        if not asks_again(state["messages"], kept):
            return {"limits": {context.run: totals}}
        ask = HumanMessage(
            content=_ASK_AGAIN_TEXT,
            id=f"{state['messages'][-1].id}__again",
            additional_kwargs={HIDDEN: True, ASK_AGAIN: True},
        )
        totals["empty_answers"] = kept.get("empty_answers", 0) + 1
        return {"messages": [ask], "limits": {context.run: totals}, "jump_to": "model"}

    @override
    async def aafter_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        return {"limits": {runtime.context.run: _totals(runtime.context.tally)}}

    @override
    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        context = cast("RunContext", request.runtime.context)
        call = request.tool_call
        call_id, name = call["id"] or "", call["name"]
        messages = (request.state or {}).get("messages", ())
        if self._pauses and context.agent == "lead" and comes_after_question(messages, call_id):
            result: ToolMessage | Command[Any] = not_started(call_id, name)
        else:
            if not is_resumed(request):
                context.tally.tool_call()
                await context.first_tool_call.passed()
                args = clip(json.dumps(mapped(call["args"], context.redact), ensure_ascii=False, default=str))
                context.journal.emit(ToolCall(id=call_id, name=clip(name), args=args), agent=context.agent)
            result = await handler(request)
        if (message := tool_message_of(result, call_id)) is not None:
            text = render_content(message.content)
            event = ToolResult(
                id=call_id, name=clip(name), status=message.status, content=clip(text), chars=len(text)
            )
            context.journal.emit(event, agent=context.agent)
        return result
