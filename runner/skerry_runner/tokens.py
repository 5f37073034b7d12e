"""Tokens by estimate: no provider's tokenizer is at hand, and every bound has room. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from skerry_runner.toolcalls import CALL_BLOCKS

__all__ = ["CHARS_PER_TOKEN", "context_size", "estimated", "fitting"]

CHARS_PER_TOKEN = 4
"""Of common English text; of other scripts, bytes."""
PER_MESSAGE = 4
"""Tokens of a message beside its text."""
PER_IMAGE = 1000
"""Tokens of an image, whatever its size: providers scale them down."""


def estimated(messages: Iterable[BaseMessage]) -> int:
    """Tokens of messages, roughly. Cheap: it is asked every turn, of the whole history."""
    return sum(_chars(message) // CHARS_PER_TOKEN + PER_MESSAGE for message in messages)


def _length(text: str) -> int:
    # Bytes rather than characters: a letter of most other scripts is about as many tokens as it has bytes more.
    return len(text) if text.isascii() else len(text.encode("utf-8", "replace"))


def _chars(message: BaseMessage) -> int:
    content = message.content
    chars = _length(content) if isinstance(content, str) else sum(_block_chars(block) for block in content)
    if isinstance(message, AIMessage):
        chars += sum(len(call["name"]) + _length(str(call["args"])) for call in message.tool_calls)
        chars += sum(_length(call["args"] or "") for call in message.invalid_tool_calls)
    return chars


def _block_chars(block: str | Mapping[Any, Any]) -> int:
    if isinstance(block, str):
        return _length(block)
    kind = block.get("type")
    if kind in CALL_BLOCKS:
        return 0
    if kind in {"image", "image_url"}:
        return PER_IMAGE * CHARS_PER_TOKEN
    return sum(_length(value) for value in block.values() if isinstance(value, str))


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
    if _length(text) <= limit:
        return text
    cut = text.encode("utf-8", "replace")[: limit + 1]
    head = cut.rpartition(b"\n")[0] or cut[:limit]
    return head.decode("utf-8", "ignore")
