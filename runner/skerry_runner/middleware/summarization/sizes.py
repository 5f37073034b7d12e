"""Whether a history is long enough, and where its newest part begins. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from enum import StrEnum

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from skerry_api.rows.summarization import HistorySize, SummarizationSettings
from skerry_runner.messages import SUMMARY_NAME
from skerry_runner.tokens import context_size, estimated

__all__ = ["LAST_ANSWER", "Unit", "fraction_path", "newest_from", "reached", "whole_from"]

LAST_ANSWER = "summary_last_answer"
"""Key in additional_kwargs of a summary: id of the newest AIMessage when it was made."""


class Unit(StrEnum):
    """What a trigger counts."""

    MESSAGES = "messages"
    TOKENS = "tokens"


def fraction_path(settings: SummarizationSettings) -> str | None:
    """Field path of the first size that needs to know the model's context window."""
    for index, size in enumerate(settings.trigger):
        if size.fraction is not None:
            return f"trigger[{index}].fraction"
    return "keep.fraction" if settings.keep.fraction is not None else None


def _tokens(size: HistorySize, window: int | None) -> int | None:
    if size.tokens is not None:
        return size.tokens
    if size.fraction is None or window is None:
        return None
    return max(1, int(window * Decimal(size.fraction)))


def reached(
    messages: Sequence[BaseMessage], settings: SummarizationSettings, window: int | None
) -> Unit | None:
    """The unit of a trigger that is reached, if any is. Tokens are counted only if a trigger asks for them."""
    if any(size.messages is not None and len(messages) >= size.messages for size in settings.trigger):
        return Unit.MESSAGES
    bounds = [bound for size in settings.trigger if (bound := _tokens(size, window)) is not None]
    if bounds and context_size(messages, stale=_stale(messages)) >= min(bounds):
        return Unit.TOKENS
    return None


def _stale(messages: Sequence[BaseMessage]) -> str | None:
    """The newest answer whose usage still speaks of the history before the last summary."""
    for message in reversed(messages):
        if message.name == SUMMARY_NAME:
            noted = message.additional_kwargs.get(LAST_ANSWER)
            return noted if isinstance(noted, str) else None
    return None


def newest_from(messages: Sequence[BaseMessage], keep: HistorySize, window: int | None) -> int:
    """Index from which on the history stays, by size alone."""
    if keep.messages is not None:
        return max(0, len(messages) - keep.messages)
    bound = _tokens(keep, window)
    if bound is None:
        return 0
    index, used = len(messages), 0
    while index > 0:
        used += estimated(messages[index - 1 : index])
        if used > bound:
            break
        index -= 1
    # The model has asked for the newest result and not seen it yet, however long it is.
    return min(index, max(0, len(messages) - 1))


def whole_from(messages: Sequence[BaseMessage], cut: int) -> int:
    """The cut moved back until no result behind it lacks the message that made its call."""
    asked: dict[str, int] = {}
    owners: list[tuple[int, int]] = []
    for index, message in enumerate(messages):
        if isinstance(message, AIMessage):
            # Ids come again in later turns: a result belongs to the newest call before it.
            asked |= {
                call["id"]: index for call in (*message.tool_calls, *message.invalid_tool_calls) if call["id"]
            }
        elif isinstance(message, ToolMessage) and message.tool_call_id in asked:
            owners.append((index, asked[message.tool_call_id]))
    for index, owner in reversed(owners):
        if owner < cut <= index:
            cut = owner
    return cut
