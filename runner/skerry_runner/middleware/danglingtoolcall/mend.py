"""Mend an answer before it is kept and its calls are run: raw calls made visible, ids made unique, cut calls taken out.

Pure. Keys of executions and results go by a call's id, so two calls of one id would pass for one.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.messages.tool import invalid_tool_call, tool_call

from skerry_runner.finish import cut_by_length
from skerry_runner.middleware.danglingtoolcall.repair import wire_ids
from skerry_runner.toolcalls import RAW_KEYS, CallSource, Declared, declared_calls, without_call_blocks

__all__ = ["CUT", "UNKEPT", "mended"]

CUT = "the answer was cut by a limit of tokens"
UNKEPT = "its arguments hold a number beyond 64 bits or are nested too deeply to be kept"
_DEEPEST = 64


def mended(message: AIMessage) -> AIMessage:
    """The message itself, or a copy under the same id whose calls can be told apart and trusted."""
    calls = declared_calls(message)
    if not calls:
        return message
    shown = [_keepable(call) for call in _without_cut_call([_visible(call) for call in calls], message)]
    ids = wire_ids(message, shown, 0)
    if all(call is old and call.id == id_ for call, old, id_ in zip(shown, calls, ids, strict=True)):
        return message
    return _copy(message, [replace(call, id=id_) for call, id_ in zip(shown, ids, strict=True)])


def _visible(call: Declared) -> Declared:
    """A raw call as a valid one if it is complete, else as an invalid one, so that neither is overlooked."""
    if call.source is not CallSource.RAW:
        return call
    args = call.args if call.args is not None else _object(call.text)
    if args is not None and call.name:
        return replace(call, source=CallSource.VALID, args=args, text=None)
    return replace(call, source=CallSource.INVALID, error=call.error or "the call could not be read")


def _keepable(call: Declared) -> Declared:
    """A call that no checkpoint can hold becomes an invalid one: the model hears of it, and the run goes on."""
    if call.source is not CallSource.VALID or _fits(call.args or {}, 0):
        return call
    return replace(call, source=CallSource.INVALID, args=None, text=None, error=UNKEPT)


def _fits(value: object, depth: int) -> bool:
    """Whether msgpack, which checkpoints are written in, can hold it."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, dict):
        return all(_fits(each, depth + 1) for each in value.values())
    if isinstance(value, list):
        return all(_fits(each, depth + 1) for each in value)
    return not isinstance(value, int) or -(2**63) <= value < 2**64


def _object(text: str | None) -> dict[str, Any] | None:
    try:
        value = json.loads(text or "")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _without_cut_call(calls: list[Declared], message: AIMessage) -> list[Declared]:
    """The last call of an answer that was cut is not to be trusted: what streams in half is read as if it were whole.

    If another call could not be read at all, that one was the one cut.
    """
    if not cut_by_length(message) or any(call.source is CallSource.INVALID for call in calls):
        return calls
    last = calls[-1]
    text = json.dumps(last.args, ensure_ascii=False, default=str)
    return [*calls[:-1], replace(last, source=CallSource.INVALID, args=None, text=text, error=CUT)]


def _copy(message: AIMessage, calls: list[Declared]) -> AIMessage:
    valid = [call for call in calls if call.source is CallSource.VALID]
    invalid = [call for call in calls if call.source is CallSource.INVALID]
    update: dict[str, Any] = {
        "content": without_call_blocks(message.content) or "",
        "tool_calls": [tool_call(name=c.name or "", args=dict(c.args or {}), id=c.id) for c in valid],
        "invalid_tool_calls": [
            invalid_tool_call(name=c.name, args=c.text, id=c.id, error=c.error) for c in invalid
        ],
        "additional_kwargs": {
            key: value for key, value in message.additional_kwargs.items() if key not in RAW_KEYS
        },
    }
    return message.model_copy(update=update)
