"""Messages as texts: role, content, the final answer. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

__all__ = [
    "HIDDEN", "MODEL_ERROR", "ORIGINAL", "RUN_ID", "STOP", "SUMMARY_NAME", "is_final", "is_user_message", "latest_user_message",
    "render_content", "role_of", "said_by_run", "text_of",
]  # fmt: skip

HIDDEN = "hide_from_ui"
"""Flag in additional_kwargs: written by us, not for people."""
STOP = "skerry_stop"
"""Flag in additional_kwargs: a guard made this message final. Its value says which: a StopReason, or ModelError."""
MODEL_ERROR = "skerry_model_error"
"""Key in additional_kwargs of an answer in place of the model's: {reason, endpoint, error, message, attempts}."""
RUN_ID = "run_id"
"""Key in additional_kwargs of the message that started a run: the run's UID."""

ORIGINAL = "original_user_content"
"""Key in additional_kwargs: what the user typed, where a row has put something before it in the content."""
REMINDER = "dynamic_context_reminder"
"""Flag in additional_kwargs of a message that tells the model date and memory."""
REMINDER_MEMORY = "reminder_memory"
"""Key in additional_kwargs of a reminder: what became of the memory; absent if only the date was due."""
SUMMARY_NAME = "summary"
"""Name of the message that stands for a summarised history: a HumanMessage, yet nobody's input."""

_ROLES = {
    "HumanMessageChunk": "human",
    "AIMessageChunk": "ai",
    "SystemMessageChunk": "system",
    "ToolMessageChunk": "tool",
}
_SHOWN_AS_CALLS = frozenset(
    {"tool_use", "tool_call", "function_call", "invalid_tool_call", "server_tool_call", "input_json_delta"}
)


def role_of(message: BaseMessage) -> str:
    """system, human, ai or tool; anything else under its own type."""
    return _ROLES.get(message.type, message.type)


def text_of(message: BaseMessage) -> str:
    """The text that a person reads, without thinking and other blocks."""
    return str(message.text)


def is_final(message: AIMessage) -> bool:
    """Whether the loop ends after it: no tool is asked for, not even by a broken call."""
    return not message.tool_calls and not message.invalid_tool_calls


def is_user_message(message: BaseMessage) -> bool:
    """Whether a person wrote it: not one of our hidden messages, and no summary."""
    return (
        isinstance(message, HumanMessage)
        and not message.additional_kwargs.get(HIDDEN)
        and message.name != SUMMARY_NAME
    )


def latest_user_message(messages: Sequence[BaseMessage]) -> tuple[int, HumanMessage] | None:
    """The newest message that a person wrote, and its index."""
    for index in range(len(messages) - 1, -1, -1):
        message = messages[index]
        if isinstance(message, HumanMessage) and is_user_message(message):
            return index, message
    return None


def said_by_run(messages: Sequence[BaseMessage], run: str) -> list[AIMessage]:
    """What the model said since the message that started this run, oldest first."""
    said: list[AIMessage] = []
    for message in reversed(messages):
        if isinstance(message, AIMessage):
            said.append(message)
        elif message.additional_kwargs.get(RUN_ID) == run:
            break
    return said[::-1]


def render_content(content: str | Sequence[str | Mapping[str, Any]]) -> str:
    """Text as it is, an image as `[image MIME BYTES]`, other blocks as `[TYPE]`; joined by newlines."""
    if isinstance(content, str):
        return content
    return "\n".join(text for block in content if (text := _block(block)) is not None)


def _block(block: str | Mapping[str, Any]) -> str | None:
    if isinstance(block, str):
        return block
    kind = str(block.get("type", "?"))
    if kind in _SHOWN_AS_CALLS:
        return None
    if kind in {"image", "image_url"}:
        return _image(block)
    for key in ("text", "thinking", "reasoning", "refusal"):
        if isinstance(block.get(key), str):
            return str(block[key])
    return f"[{kind}]"


def _image(block: Mapping[str, Any]) -> str:
    source = block.get("source")
    inner: Mapping[str, Any] = source if isinstance(source, Mapping) else block
    mime = inner.get("mime_type") or inner.get("media_type")
    data = inner.get("base64") or inner.get("data")
    link = block.get("image_url")
    url = link.get("url") if isinstance(link, Mapping) else link or inner.get("url")
    if data is None and isinstance(url, str) and url.startswith("data:"):
        head, _, data = url[5:].partition(",")
        mime = head.partition(";")[0]
    size = len(data.rstrip("=")) * 3 // 4 if isinstance(data, str) else 0
    return f"[image {mime or '?'} {size}]"
