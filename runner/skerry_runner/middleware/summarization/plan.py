"""What of a history is summarised and what stays. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from skerry_api.rows.summarization import SummarizationSettings
from skerry_runner.messages import HIDDEN, REMINDER, REMINDER_MEMORY, SUMMARY_NAME, latest_user_message
from skerry_runner.middleware.summarization.sizes import LAST_ANSWER, Unit, newest_from, whole_from
from skerry_runner.middleware.summarization.skills import SkillRead, chosen_reads, only_calls
from skerry_runner.tokens import estimated

__all__ = ["SUMMARY", "Plan", "planned", "summary_message"]

SUMMARY = "skerry_summary"
"""Flag of a summary."""
FRESH_LEAST = 2
"""New messages below which a summary is not worth a call."""
SAVED_LEAST = 0.1
"""Share of the tokens below which it is not either: what stays is too big, and would be so again next turn."""


@dataclass(frozen=True)
class Plan:
    """`before`, the summary, `after` are the new history; `summarised` is what the summary must tell."""

    summarised: tuple[BaseMessage, ...]
    before: tuple[BaseMessage, ...]
    after: tuple[BaseMessage, ...]
    skills: tuple[str, ...]

    def history(self, summary: HumanMessage) -> list[BaseMessage]:
        return [*self.before, summary, *self.after]


def _reminders(messages: Sequence[BaseMessage]) -> set[int]:
    """The newest reminder, and the newest that holds memory: older dates mean nothing any more."""
    found = [index for index, message in enumerate(messages) if message.additional_kwargs.get(REMINDER)]
    full = [index for index in found if messages[index].additional_kwargs.get(REMINDER_MEMORY) is not None]
    return {*found[-1:], *full[-1:]}


def planned(
    messages: Sequence[BaseMessage], settings: SummarizationSettings, window: int | None, unit: Unit
) -> Plan | None:
    """None if too little would be gained in the unit of the trigger. Pairs of call and result stay together, on whichever side."""
    cut = whole_from(messages, newest_from(messages, settings.keep, window))
    if cut <= 0:
        return None
    kept = {index for index in _reminders(messages) if index < cut}
    request = latest_user_message(messages)
    if request is not None and request[0] < cut:
        kept.add(request[0])
    reads = chosen_reads(messages, cut, settings)
    told, stays = _split(messages[:cut], kept, reads)
    fresh = [message for _, message in told if message.name != SUMMARY_NAME]
    if len(fresh) < FRESH_LEAST:
        return None
    if unit is Unit.TOKENS and estimated(fresh) < SAVED_LEAST * estimated(messages):
        return None
    first = told[0][0]
    return Plan(
        summarised=tuple(message for _, message in told),
        before=tuple(message for index, message in stays if index < first),
        after=(*(message for index, message in stays if index >= first), *messages[cut:]),
        skills=tuple(read.path for read in reads),
    )


_Placed = list[tuple[int, BaseMessage]]


def _split(
    head: Sequence[BaseMessage], kept: set[int], reads: Sequence[SkillRead]
) -> tuple[_Placed, _Placed]:
    """What is told by the summary and what stays, each with its old index; a message may be in both, in parts."""
    told: _Placed = []
    stays: _Placed = []
    results = {read.answered for read in reads}
    rescued: dict[int, frozenset[str]] = {}
    for read in reads:
        rescued[read.asked] = rescued.get(read.asked, frozenset()) | {read.call_id}
    for index, message in enumerate(head):
        if index in kept or index in results:
            stays.append((index, message))
        elif index in rescued and isinstance(message, AIMessage):
            ids = rescued[index]
            if any(call["id"] not in ids for call in message.tool_calls) or message.invalid_tool_calls:
                stays.append((index, only_calls(message, ids, keep=True)))
                told.append((index, only_calls(message, ids, keep=False)))
            else:
                stays.append((index, message))
        elif message.name == SUMMARY_NAME or not message.additional_kwargs.get(HIDDEN):
            # Other hidden messages were for one moment, and it has passed.
            told.append((index, message))
    return told, stays


def summary_message(plan: Plan, text: str) -> HumanMessage:
    """The message that stands for what was summarised; nobody's input, though of a person's role."""
    last = plan.summarised[-1].id
    answers = [message.id for message in plan.after if isinstance(message, AIMessage)]
    return HumanMessage(
        content=f"What follows is a summary of the conversation up to here; the messages themselves are gone.\n\n{text}",
        id=f"{last}__summary",
        name=SUMMARY_NAME,
        additional_kwargs={HIDDEN: True, SUMMARY: True, LAST_ANSWER: answers[-1] if answers else None},
    )
