"""Tokens by estimate: no provider's tokenizer is at hand, and every bound has room. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.utils import count_tokens_approximately

__all__ = ["CHARS_PER_TOKEN", "context_size", "estimated", "fitting"]

CHARS_PER_TOKEN = 4
"""Of common English text; other scripts have fewer, so that bounds are met early rather than late."""


def estimated(messages: Iterable[BaseMessage]) -> int:
    """Tokens of messages, roughly."""
    return count_tokens_approximately(list(messages))


def context_size(messages: Sequence[BaseMessage], *, stale: str | None = None) -> int:
    """Tokens that a request with these messages takes: the provider's own count where there is one.

    `stale` is the id of the newest AIMessage whose count no longer holds, because history was rewritten after it.
    """
    whole = estimated(messages)
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, AIMessage):
            usage = message.usage_metadata
            if usage is None or (stale is not None and message.id == stale):
                break
            # The count holds what messages don't show: system prompt and tools.
            return max(whole, usage["total_tokens"] + estimated(messages[index + 1 :]))
    return whole


def fitting(text: str, tokens: int) -> str:
    """The longest run of whole lines from the beginning that fits, or else a cut line."""
    limit = tokens * CHARS_PER_TOKEN
    if len(text) <= limit:
        return text
    head = text[: limit + 1].rpartition("\n")[0]
    return head or text[:limit]
