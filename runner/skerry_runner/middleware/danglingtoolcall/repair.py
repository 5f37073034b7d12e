"""Put a message's calls into the one form that every provider takes back: valid calls with a name and an id. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Sequence
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.tool import tool_call

from skerry_runner.middleware.danglingtoolcall.slots import NO_ID
from skerry_runner.toolcalls import RAW_KEYS, CallSource, Declared, without_call_blocks

__all__ = ["UNKNOWN_TOOL", "needs_repair", "repaired", "synthetic_id", "wire_ids", "wire_name"]

UNKNOWN_TOOL = "unknown_tool"
NAME_MAX = 64
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def synthetic_id(owner: str, source: str, position: int) -> str:
    """An id for a call that has none, the same each time; short and plain enough for every provider."""
    return "call_" + hashlib.sha256(f"{owner}\n{source}\n{position}".encode()).hexdigest()[:24]


def wire_ids(message: AIMessage, calls: Sequence[Declared], place: int) -> list[str]:
    """An id for each call, unique within the message: its own where it is the first to have it, else a synthetic one."""
    owner = message.id or f"#{place}"
    seen: set[str] = set()
    ids = []
    for position, call in enumerate(calls):
        own = call.id or ""
        id_ = synthetic_id(owner, call.source, position) if own in NO_ID or own in seen else own
        seen.add(id_)
        ids.append(id_)
    return ids


def wire_name(name: str | None, tools: Collection[str] = ()) -> str:
    """A name that providers take: the model may have made one up, and history that they refuse stays refused."""
    if name in tools and name:
        return name
    return _NOT_IN_NAMES.sub("_", (name or "").strip())[:NAME_MAX] or UNKNOWN_TOOL


def needs_repair(calls: Sequence[Declared], ids: Sequence[str], names: Sequence[str]) -> bool:
    return any(
        call.source is not CallSource.VALID or call.id != id_ or call.name != name
        for call, id_, name in zip(calls, ids, names, strict=True)
    )


def repaired(
    message: AIMessage, calls: Sequence[Declared], ids: Sequence[str], names: Sequence[str]
) -> AIMessage:
    """A copy under the same id whose calls are all valid; arguments that can't be read become `{}`.

    Blocks and raw fields that held calls go: adapters would send those beside the mended ones.
    """
    content = without_call_blocks(message.content)
    update: dict[str, Any] = {
        "content": content or "",
        "tool_calls": [
            tool_call(name=name, args=dict(call.args or {}), id=id_)
            for call, id_, name in zip(calls, ids, names, strict=True)
        ],
        "invalid_tool_calls": [],
        "additional_kwargs": {
            key: value for key, value in message.additional_kwargs.items() if key not in RAW_KEYS
        },
    }
    return message.model_copy(update=update)
