"""Rebuild a history so that a provider takes it: first find which result belongs to which call, then lay it out. Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from skerry_runner.middleware.danglingtoolcall.repair import needs_repair, repaired, wire_ids, wire_name
from skerry_runner.middleware.danglingtoolcall.slots import NO_ID, Slot, assigned
from skerry_runner.middleware.danglingtoolcall.texts import missing_result
from skerry_runner.toolcalls import Declared, declared_calls

__all__ = ["intact", "paired", "rebuilt"]


def paired(
    messages: Sequence[AnyMessage], *, tools: Collection[str] = (), detail_max: int = 500
) -> Sequence[AnyMessage]:
    """The history with each call's result right behind the message that made it, in the order of its calls.

    Calls without a result get one that says so, results without a call are left out, calls that no provider would
    take back are put right. `tools` are names that the model may use as they are. The same object, if all is well.
    """
    return messages if intact(messages, tools) else rebuilt(messages, tools, detail_max)


def intact(messages: Sequence[AnyMessage], tools: Collection[str] = ()) -> bool:
    """Whether a provider takes the history as it is. In one pass: it nearly always does, and is asked every turn."""
    due: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            if not due or message.tool_call_id != due.pop():
                return False
        elif due:
            return False
        elif isinstance(message, AIMessage):
            ids = _own_ids(message, tools)
            if ids is None:
                return False
            due = ids[::-1]
    return not due


def _own_ids(message: AIMessage, tools: Collection[str]) -> list[str] | None:
    """Ids of a message's calls; None unless all are valid, each with a name that providers take and an id of its own."""
    if message.invalid_tool_calls or not message.tool_calls:
        return None if declared_calls(message) else []
    ids: list[str] = []
    for call in message.tool_calls:
        id_ = call["id"] or ""
        if id_ in NO_ID or id_ in ids or call["name"] != wire_name(call["name"], tools):
            return None
        ids.append(id_)
    return ids


def rebuilt(messages: Sequence[AnyMessage], tools: Collection[str], detail_max: int) -> list[AnyMessage]:
    """The history laid out anew, whether that changes it or not."""
    calls = {
        place: declared
        for place, message in enumerate(messages)
        if isinstance(message, AIMessage) and (declared := declared_calls(message))
    }
    results = assigned(messages, calls)
    rebuilt: list[AnyMessage] = []
    for place, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            continue
        if place not in calls or not isinstance(message, AIMessage):
            rebuilt.append(message)
            continue
        declared = calls[place]
        ids = wire_ids(message, declared, place)
        names = [wire_name(call.name, tools) for call in declared]
        rebuilt.append(
            repaired(message, declared, ids, names) if needs_repair(declared, ids, names) else message
        )
        for index, (call, id_, name) in enumerate(zip(declared, ids, names, strict=True)):
            found = results.get(Slot(place, index))
            given = messages[found] if found is not None else None
            rebuilt.append(
                _result(given if isinstance(given, ToolMessage) else None, call, id_, name, detail_max)
            )
    return rebuilt


def _result(given: ToolMessage | None, call: Declared, id_: str, name: str, detail_max: int) -> ToolMessage:
    if given is None:
        text = missing_result(call, detail_max=detail_max)
        return ToolMessage(content=text, name=name, tool_call_id=id_, status="error")
    renamed = name != call.name
    if given.tool_call_id == id_ and not renamed:
        return given
    return given.model_copy(update={"tool_call_id": id_, **({"name": name} if renamed else {})})
