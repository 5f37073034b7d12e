"""The row. A title never ends a run, nor keeps it waiting beyond its limit."""

from __future__ import annotations

from typing import Any

from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import AIMessage
from langgraph.runtime import Runtime
from typing_extensions import override

from skerry_api.rows.title import TitleSettings
from skerry_runner.context import RunContext
from skerry_runner.events import TitleMade, clip
from skerry_runner.messages import STOP, text_of
from skerry_runner.middleware.title.text import Exchange, cleaned, exchange, local_title, request
from skerry_runner.models.internal import Purpose, answers, internal_call
from skerry_runner.state import RunnerState
from skerry_runner.toolcalls import declared_calls

__all__ = ["Title"]


class Title(AgentMiddleware[RunnerState, RunContext, Any]):
    """The title is the thread's and lives in graph state."""

    state_schema = RunnerState

    def __init__(self, settings: TitleSettings | None = None) -> None:
        super().__init__()
        self._settings = settings or TitleSettings()

    @override
    async def aafter_model(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        last = state["messages"][-1] if state["messages"] else None
        if state.get("title") or not isinstance(last, AIMessage) or declared_calls(last):
            return None
        if not text_of(last).strip() and not last.additional_kwargs.get(STOP):
            # It will be asked for again.
            return None
        about = exchange(state["messages"])
        return None if about is None else await self._titled(about, state, runtime.context)

    @override
    async def aafter_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        # A limit ended the run before there was an answer.
        if state.get("title") or (about := exchange(state["messages"])) is None:
            return None
        return self._made(runtime.context, local_title(about.asked, self._settings.max_chars), "local")

    async def _titled(self, about: Exchange, state: RunnerState, context: RunContext) -> dict[str, Any]:
        settings = self._settings
        local = local_title(about.asked, settings.max_chars)
        asks = settings.model is not None or answers(context, Purpose.TITLE, state)
        if about.said is None or not asks:
            return self._made(context, local, "local")
        answer = await internal_call(
            context,
            state,
            Purpose.TITLE,
            request(about, settings.max_words),
            seconds=settings.timeout_seconds,
            model=context.title_model,
        )
        title = (
            cleaned(text_of(answer.message), settings.max_words, settings.max_chars) if answer.message else ""
        )
        error = None if title else answer.error or "the answer held no title"
        made = self._made(context, title or local, "model" if title else "local", error)
        return {**answer.update, **made}

    @staticmethod
    def _made(context: RunContext, title: str, source: str, error: str | None = None) -> dict[str, Any]:
        title = context.calls.redact(title)
        context.tally.title(title)
        told = None if error is None else clip(error)
        context.journal.emit(TitleMade(title=title, source=source, error=told), agent=context.agent)
        return {"title": title}
