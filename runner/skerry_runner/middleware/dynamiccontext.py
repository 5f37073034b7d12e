"""DynamicContext: the date and what is remembered of the user, told in a hidden message before the user's own.

Never in the system prompt: providers cache by prefix, and a prompt that changes is paid for again.
"""

from __future__ import annotations

import asyncio
import html
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage, RemoveMessage
from langgraph.errors import GraphBubbleUp
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.runtime import Runtime
from typing_extensions import override

from skerry_api.rows.dynamiccontext import DynamicContextSettings
from skerry_runner.compose.rows import Hook
from skerry_runner.context import RunContext
from skerry_runner.events import PipelineFault, clip
from skerry_runner.memory import NoMemory
from skerry_runner.messages import HIDDEN, REMINDER, REMINDER_MEMORY, latest_user_message
from skerry_runner.outcome import RunEnded
from skerry_runner.state import RunnerState
from skerry_runner.tokens import fitting

__all__ = [
    "REMINDER_DATE", "USER_SUFFIX", "DynamicContext", "Need", "Recalled", "Remembered", "day_text", "is_reminder", "needed",
    "placed", "reminder", "untold",
]  # fmt: skip

REMINDER_DATE = "reminder_date"
"""Key in additional_kwargs: the day the reminder names, ISO 8601."""
USER_SUFFIX = "__user"
"""What the id of a user's message ends in once a reminder has taken its place."""
# strftime would ask the process's locale.
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class Remembered(StrEnum):
    """What became of the memory in a first reminder."""

    TOLD = "told"
    NOTHING = "nothing"
    MISSED = "missed"
    """It could not be read in time; the next run tries again."""


class Need(StrEnum):
    """Which reminder is due."""

    FULL = "full"
    DATE = "date"


@dataclass(frozen=True)
class Recalled:
    """A memory, or why there is none."""

    outcome: Remembered
    text: str = ""


def is_reminder(message: BaseMessage) -> bool:
    """By its flag: anybody can type the tags."""
    return bool(message.additional_kwargs.get(REMINDER))


def needed(messages: Sequence[BaseMessage], today: date) -> Need | None:
    """The first run of a thread is told everything, the first of another day the date, all others nothing."""
    found = latest_user_message(messages)
    if found is None or (found[1].id or "").endswith(USER_SUFFIX):
        return None
    told = [message.additional_kwargs for message in messages if is_reminder(message)]
    if not any(kwargs.get(REMINDER_MEMORY) in {Remembered.TOLD, Remembered.NOTHING} for kwargs in told):
        return Need.FULL
    return None if told[-1].get(REMINDER_DATE) == today.isoformat() else Need.DATE


def untold(messages: Sequence[BaseMessage]) -> bool:
    """Whether the thread began when nothing was remembered, and has not been told anything since.

    What a thread learns itself, where it alone has its memory, would never be told otherwise.
    """
    found = latest_user_message(messages)
    if found is None or (found[1].id or "").endswith(USER_SUFFIX):
        return False
    told = {message.additional_kwargs.get(REMINDER_MEMORY) for message in messages if is_reminder(message)}
    return Remembered.NOTHING in told and Remembered.TOLD not in told


def day_text(day: date) -> str:
    """A day as the model reads it: `2026-05-08, Friday`."""
    return f"{day.isoformat()}, {_WEEKDAYS[day.weekday()]}"


def reminder(id_: str, today: date, recalled: Recalled | None) -> HumanMessage:
    """The hidden message; a remembered text can't close its own envelope, nor name another date."""
    lines = ["<system-reminder>"]
    kwargs: dict[str, Any] = {HIDDEN: True, REMINDER: True, REMINDER_DATE: today.isoformat()}
    if recalled is not None:
        kwargs[REMINDER_MEMORY] = recalled.outcome.value
        if recalled.text:
            remembered = html.escape(recalled.text, quote=False)
            lines += ["<memory>", remembered, "</memory>"]
    lines += [f"<current_date>{day_text(today)}</current_date>", "</system-reminder>"]
    return HumanMessage(content="\n".join(lines), id=id_, additional_kwargs=kwargs)


def placed(
    messages: Sequence[AnyMessage], make: Callable[[str], HumanMessage], new_id: Callable[[], str]
) -> list[BaseMessage]:
    """The update that puts a reminder before the latest user message.

    The reminder takes that message's id, and so its place; the message goes on under `{id}__user`.
    """
    found = latest_user_message(messages)
    if found is None:
        return []
    index, said = found
    id_ = said.id or new_id()
    pair: list[BaseMessage] = [make(id_), said.model_copy(update={"id": id_ + USER_SUFFIX})]
    if index == len(messages) - 1 and said.id is not None:
        return pair
    # A new id is appended at the end, which is not where this message stands.
    return [RemoveMessage(id=REMOVE_ALL_MESSAGES), *messages[:index], *pair, *messages[index + 1 :]]


class DynamicContext(AgentMiddleware[RunnerState, RunContext, Any]):
    """Once per run, before everything else that reads the user's message."""

    state_schema = RunnerState

    def __init__(
        self,
        settings: DynamicContextSettings | None = None,
        *,
        new_id: Callable[[], str] = lambda: str(uuid.uuid4()),
    ) -> None:
        super().__init__()
        self._settings = settings or DynamicContextSettings()
        self._seconds: float = self._settings.memory_timeout_seconds
        self._new_id = new_id

    @override
    async def abefore_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        messages, context = state["messages"], runtime.context
        today = context.clock().date()
        need = needed(messages, today)
        recalled = None
        if need is Need.FULL:
            recalled = await self._recalled(context)
        elif not isinstance(context.memory, NoMemory) and untold(messages):
            late = await self._recalled(context)
            recalled = late if late.outcome is Remembered.TOLD else None
        if need is None and recalled is None:
            return None
        return {"messages": placed(messages, lambda id_: reminder(id_, today, recalled), self._new_id)}

    async def _recalled(self, context: RunContext) -> Recalled:
        if not self._settings.memory:
            return Recalled(Remembered.NOTHING)
        try:
            async with asyncio.timeout(self._seconds):
                text = await context.memory.recall(
                    thread=context.thread, user=context.user, agent=context.agent
                )
        except (GraphBubbleUp, RunEnded):
            raise
        except Exception as error:  # noqa: BLE001 - a memory that can't be read must not cost the run
            context.journal.emit(
                PipelineFault(
                    row=self.name,
                    hook=Hook.BEFORE_AGENT.value,
                    error=type(error).__name__,
                    message=clip(str(error) or f"no memory within {self._seconds:g} s"),
                ),
                agent=context.agent,
            )
            return Recalled(Remembered.MISSED)
        text = fitting(text.strip(), self._settings.memory_max_tokens)
        return Recalled(Remembered.TOLD if text else Remembered.NOTHING, text)
