"""The row: the one rewrite of history that is kept in graph state."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.runtime import Runtime
from typing_extensions import override

from skerry_api.rows.safetyfinishreason import DEFAULT_ADAPTERS
from skerry_api.rows.summarization import SummarizationSettings
from skerry_runner.context import RunContext
from skerry_runner.events import Summary, clip
from skerry_runner.finish import cut_by_length, finish_values, same_word
from skerry_runner.messages import text_of
from skerry_runner.middleware.summarization.plan import Plan, planned, summary_message
from skerry_runner.middleware.summarization.sizes import Unit, fraction_path, reached
from skerry_runner.middleware.summarization.transcript import request
from skerry_runner.models.internal import InternalAnswer, Purpose, internal_call
from skerry_runner.outcome import InvalidDocument
from skerry_runner.state import RunLimits, RunnerState
from skerry_runner.tools.text import cut_middle

__all__ = ["RETRY_TURNS", "SETTINGS_PATH", "Summarization", "usable_text"]

RETRY_TURNS = 5
"""Turns until a summary that failed is tried again: one a turn would double the run's calls."""
SETTINGS_PATH = "pipeline.summarization"


def usable_text(message: AIMessage, max_chars: int) -> tuple[str, str | None]:
    """The summary, or why the answer is none: history must not be given up for a blank, a half or a refusal."""
    for adapter in DEFAULT_ADAPTERS:
        for field in adapter.fields:
            for said in finish_values(message, field):
                if any(same_word(said, word) for word in adapter.values):
                    return "", f"the provider stopped it: {said[:64]}"
    if cut_by_length(message):
        return "", "it was cut by a limit of tokens"
    text = text_of(message).strip()
    return (cut_middle(text, max_chars), None) if text else ("", "it was blank")


def _prepared(
    messages: Sequence[BaseMessage], settings: SummarizationSettings, window: int | None, unit: Unit
) -> tuple[Plan, list[BaseMessage]] | None:
    plan = planned(messages, settings, window, unit)
    if plan is None:
        return None
    # The model that summarises is the one whose window is nearly full.
    room = settings.max_input_tokens if window is None else min(settings.max_input_tokens, window * 3 // 4)
    return plan, request(plan.summarised, room)


class Summarization(AgentMiddleware[RunnerState, RunContext, Any]):
    """Anything that goes wrong with a summary leaves the history as it is."""

    state_schema = RunnerState

    def __init__(self, settings: SummarizationSettings | None = None) -> None:
        super().__init__()
        self._settings = settings or SummarizationSettings()

    @override
    async def abefore_model(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        context, settings, messages = runtime.context, self._settings, state["messages"]
        window = self._window(context)
        unit = reached(messages, settings, window)
        if unit is None:
            return None
        limits = (state.get("limits") or {}).get(context.run, RunLimits())
        turn = limits.get("turns", 0)
        if turn < limits.get("summary_turn", 0):
            return None
        # A long history takes a while to render.
        prepared = await asyncio.to_thread(_prepared, tuple(messages), settings, window, unit)
        if prepared is None:
            return None
        plan, asked = prepared
        answer = await internal_call(context, state, Purpose.SUMMARY, asked, seconds=settings.timeout_seconds)
        text, error = self._text(answer)
        self._tell(context, plan, text, error)
        if error is not None:
            return {
                **answer.update,
                "limits": {context.run: RunLimits(summary_turn=turn + RETRY_TURNS)},
            }
        history = plan.history(summary_message(plan, text))
        return {**answer.update, "messages": [RemoveMessage(id=REMOVE_ALL_MESSAGES), *history]}

    def _window(self, context: RunContext) -> int | None:
        settings = self._settings
        known = (context.model.model.profile or {}).get("max_input_tokens") if context.model else None
        window = settings.context_tokens or known
        path = fraction_path(settings)
        if path is not None and window is None:
            raise InvalidDocument(
                "UnknownContextWindow",
                f"{SETTINGS_PATH}.{path}",
                "a share of the model's context window, which is not known: set contextTokens beside it, or use tokens",
            )
        return window

    def _text(self, answer: InternalAnswer) -> tuple[str, str | None]:
        if answer.message is None:
            return "", answer.error or "there was no answer"
        return usable_text(answer.message, self._settings.max_summary_chars)

    @staticmethod
    def _tell(context: RunContext, plan: Plan, text: str, error: str | None) -> None:
        event = (
            Summary(status="failed", error=clip(error))
            if error is not None
            else Summary(
                status="replaced",
                removed=len(plan.summarised),
                kept=len(plan.before) + len(plan.after),
                chars=len(text),
                skills=plan.skills,
            )
        )
        context.journal.emit(event, agent=context.agent)
