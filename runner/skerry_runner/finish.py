"""Why a provider says that it ended an answer. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from langchain_core.messages import AIMessage

__all__ = ["cut_by_length", "finish_values", "same_word"]

_LENGTH_FIELDS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "incomplete_details.reason")
_LENGTH_WORDS = frozenset(
    {"length", "max_tokens", "max_output_tokens", "max_completion_tokens", "model_length",
     "model_context_window_exceeded"}
)  # fmt: skip


def finish_values(message: AIMessage, field: str) -> Iterator[str]:
    """What stands in a field, dots leading into objects: first in response_metadata, then in additional_kwargs."""
    parts = field.split(".")
    for source in (message.response_metadata, message.additional_kwargs):
        value: Any = source
        for part in parts:
            value = value.get(part) if isinstance(value, dict) else None
        if isinstance(value, str) and value:
            yield value


def same_word(said: str, word: str) -> bool:
    """Whether a provider said this word, in any case; once, or once a chunk (merged chunks join their strings)."""
    said, word = said.strip().casefold(), word.casefold()
    times = len(said) // len(word)
    return times > 0 and said == word * times


def cut_by_length(message: AIMessage) -> bool:
    """Whether the answer ends where a limit of tokens cut it."""
    return any(
        same_word(said, word)
        for field in _LENGTH_FIELDS
        for said in finish_values(message, field)
        for word in _LENGTH_WORDS
    )
