"""A model request as one text, for a script's `contains` and `absent`. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

__all__ = ["render_content", "render_request", "role_of"]

_ROLES = {"human": "human", "HumanMessageChunk": "human", "ai": "ai", "AIMessageChunk": "ai", "system": "system", "tool": "tool"}
_SHOWN_AS_CALLS = {"tool_use", "tool_call", "function_call", "invalid_tool_call", "server_tool_call"}


def role_of(message: BaseMessage) -> str:
    """system, human, ai or tool; anything else under its own type."""
    return _ROLES.get(message.type, message.type)


def render_request(messages: Sequence[BaseMessage]) -> str:
    """Per message `role: ` and its content, then one line per tool call."""
    return "\n".join(line for message in messages for line in _lines(message))


def _lines(message: BaseMessage) -> list[str]:
    role, content = role_of(message), render_content(message.content)
    if isinstance(message, ToolMessage):
        return [f"{role}: {message.name or '?'} ({message.status}): {content}"]
    lines = [f"{role}: {content}"]
    if isinstance(message, AIMessage):
        lines += [
            f"{role}: call {call['name']} {json.dumps(call['args'], ensure_ascii=False)}" for call in message.tool_calls
        ]
        lines += [f"{role}: call {call['name']} {call['args'] or ''}" for call in message.invalid_tool_calls]
    return lines


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
