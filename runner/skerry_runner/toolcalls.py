"""The places where a message may hold tool calls, and how to take them all out. Pure.

Providers' adapters fill different fields; a call that is left in one of them is sent back to the provider, or run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk

__all__ = [
    "CALL_BLOCKS", "RAW_KEYS", "CallSource", "Content", "Declared", "append_text", "declared_calls", "names_of",
    "prepend_text", "without_call_blocks", "without_calls", "without_some_calls",
]  # fmt: skip

CALL_BLOCKS = frozenset(
    {"tool_use", "tool_call", "tool_call_chunk", "function_call", "custom_tool_call", "invalid_tool_call",
     "input_json_delta"}
)  # fmt: skip
"""Types of content blocks that ask for a tool. Calls that a provider's own server carries out are not among them."""
RAW_KEYS = ("tool_calls", "function_call")
_FINISH_KEYS = ("finish_reason", "stop_reason", "stopReason")
_ASKS = {"tool_calls": "stop", "function_call": "stop", "tool_use": "end_turn"}

Content = str | list[str | dict[Any, Any]]


class CallSource(StrEnum):
    VALID = "tool_calls"
    INVALID = "invalid_tool_calls"
    RAW = "additional_kwargs"


@dataclass(frozen=True)
class Declared:
    """A call as its message has it. `args` only of valid calls; `text` is what stood there instead."""

    source: CallSource
    id: str | None
    name: str | None
    args: Mapping[str, Any] | None = None
    text: str | None = None
    error: str | None = None


def declared_calls(message: AIMessage) -> list[Declared]:
    """All calls of a message: valid, then invalid; raw ones only where there is neither."""
    calls = [
        Declared(CallSource.VALID, call["id"], call["name"], args=call["args"]) for call in message.tool_calls
    ]
    calls += [
        Declared(CallSource.INVALID, call["id"], call["name"], text=call["args"], error=call["error"])
        for call in message.invalid_tool_calls
    ]
    return calls or _raw(message.additional_kwargs)


def _raw(kwargs: Mapping[str, Any]) -> list[Declared]:
    listed = kwargs.get("tool_calls")
    found = (
        [_raw_call(call) for call in listed if isinstance(call, Mapping)] if isinstance(listed, list) else []
    )
    single = kwargs.get("function_call")
    return found or ([_raw_call({"function": single})] if isinstance(single, Mapping) and single else [])


def _raw_call(call: Mapping[str, Any]) -> Declared:
    function = call.get("function")
    inner: Mapping[str, Any] = function if isinstance(function, Mapping) else call
    name, args, id_ = inner.get("name"), inner.get("arguments", inner.get("args")), call.get("id")
    return Declared(
        CallSource.RAW,
        id_ if isinstance(id_, str) else None,
        name if isinstance(name, str) else None,
        args=args if isinstance(args, Mapping) else None,
        text=args if isinstance(args, str) else None,
    )


def without_call_blocks(content: Content) -> Content:
    """The content without blocks that ask for a tool; the same object if there are none."""
    if isinstance(content, str):
        return content
    kept = [
        block for block in content if not (isinstance(block, Mapping) and block.get("type") in CALL_BLOCKS)
    ]
    return content if len(kept) == len(content) else kept


def append_text(content: Content | None, text: str) -> Content:
    """The content and, as a paragraph or a block of its own, a text."""
    if not content:
        return text
    if isinstance(content, str):
        return f"{content}\n\n{text}"
    return [*content, {"type": "text", "text": text}]


def prepend_text(content: Content | None, text: str) -> Content:
    """Likewise before the content."""
    if not content:
        return text
    if isinstance(content, str):
        return f"{text}\n\n{content}"
    return [{"type": "text", "text": text}, *content]


def without_calls(
    message: AIMessage,
    *,
    text: str | None = None,
    kwargs: Mapping[str, Any] | None = None,
    keep_finish_reason: bool = False,
) -> AIMessage:
    """A copy under the same id that asks for no tool, wherever it asked; `text` is appended, `kwargs` are added.

    A finish reason that announces calls becomes the provider's word for a plain end, unless it is kept.
    """
    content = without_call_blocks(message.content)
    update: dict[str, Any] = {
        "content": content if text is None else append_text(content, text),
        "tool_calls": [],
        "invalid_tool_calls": [],
        "additional_kwargs": {
            **{key: value for key, value in message.additional_kwargs.items() if key not in RAW_KEYS},
            **(kwargs or {}),
        },
    }
    if isinstance(message, AIMessageChunk):
        update["tool_call_chunks"] = []
    if not keep_finish_reason:
        update["response_metadata"] = _finished(message.response_metadata)
    return message.model_copy(update=update)


def without_some_calls(
    message: AIMessage,
    cut: Collection[int],
    *,
    text: str | None = None,
    kwargs: Mapping[str, Any] | None = None,
) -> AIMessage:
    """A copy under the same id without the valid calls at these indices, wherever they stand; others stay.

    Calls are told apart by their ids, which DanglingToolCall has made unique. `text` is appended, `kwargs` are added.
    """
    calls = [call for index, call in enumerate(message.tool_calls) if index not in cut]
    gone = {call["id"] for index, call in enumerate(message.tool_calls) if index in cut}
    content = _without_blocks_of(message.content, gone)
    raw = {**message.additional_kwargs, **(kwargs or {})}
    if isinstance(listed := raw.get("tool_calls"), list):
        raw["tool_calls"] = [c for c in listed if not (isinstance(c, Mapping) and c.get("id") in gone)]
    update: dict[str, Any] = {
        "content": content if text is None else append_text(content, text),
        "tool_calls": calls,
        "additional_kwargs": raw,
    }
    if isinstance(message, AIMessageChunk):
        update["tool_call_chunks"] = [c for c in message.tool_call_chunks if c["id"] not in gone]
    return message.model_copy(update=update)


def _without_blocks_of(content: Content, gone: Collection[str | None]) -> Content:
    if isinstance(content, str):
        return content
    return [
        block
        for block in content
        if not (
            isinstance(block, Mapping)
            and block.get("type") in CALL_BLOCKS
            and (block.get("id") in gone or block.get("call_id") in gone)
        )
    ]


def _finished(metadata: Mapping[str, Any]) -> dict[str, Any]:
    plain = {key: _ASKS[metadata[key]] for key in _FINISH_KEYS if _asks(metadata.get(key))}
    return {**metadata, **plain}


def _asks(value: Any) -> bool:
    return isinstance(value, str) and value in _ASKS


def names_of(calls: Sequence[Declared]) -> tuple[str, ...]:
    """Names alone, as a record may show them."""
    return tuple((call.name or "unknown_tool")[:128] for call in calls)
