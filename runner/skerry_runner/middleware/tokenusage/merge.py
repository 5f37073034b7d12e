"""Notes on messages: their own usage and that of the subagents they sent out, each of these once. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolMessage

from skerry_api.report import Tokens
from skerry_runner.middleware.tokenusage.attribution import attribution
from skerry_runner.state import TodoItem
from skerry_runner.subagentusage import subagent_usage

__all__ = ["NOTE", "rewritten"]

NOTE = "token_usage"
"""Key in additional_kwargs: the attribution, and `usage` {input, output, total} with that of `subagents` in it, by call.

The provider's own count stays in `usage_metadata`, for that is the size of the context.
"""


def rewritten(messages: Sequence[AnyMessage], todos: Sequence[TodoItem]) -> list[AIMessage]:
    """Copies, under their ids, of the answers whose note changes: the newest one, and those whose subagents came home.

    A note is made of the history as it stands, not added to: doing it twice, or again after a replay, changes nothing.
    """
    last = messages[-1] if messages else None
    made: list[AIMessage] = []
    for message, used in _dispatched(messages):
        if message is not last and not used:
            continue
        noted = message.additional_kwargs.get(NOTE)
        # The list of todos is only now the one that the newest answer has seen.
        note = attribution(message, todos) if message is last or not isinstance(noted, Mapping) else noted
        new = {**note, **_usage(message, used)}
        if new != noted:
            kwargs = {**message.additional_kwargs, NOTE: new}
            made.append(message.model_copy(update={"additional_kwargs": kwargs}))
    return made


def _dispatched(messages: Sequence[AnyMessage]) -> list[tuple[AIMessage, dict[str, Tokens]]]:
    """Answers with what subagents of their calls used. Ids of calls may come again in later turns."""
    found: list[tuple[AIMessage, dict[str, Tokens]]] = []
    for message in messages:
        if isinstance(message, AIMessage):
            found.append((message, {}))
        elif isinstance(message, ToolMessage) and found and (used := subagent_usage(message)) is not None:
            answer, own = found[-1]
            if any(call["id"] == message.tool_call_id for call in answer.tool_calls):
                own[message.tool_call_id] = used
    return found


def _usage(message: AIMessage, used: Mapping[str, Tokens]) -> dict[str, Any]:
    told = message.usage_metadata
    own = (told["input_tokens"], told["output_tokens"], told["total_tokens"]) if told else (0, 0, 0)
    sums = [own, *((each.input, each.output, each.total) for each in used.values())]
    note: dict[str, Any] = {"usage": _plain(*(sum(column) for column in zip(*sums, strict=True)))}
    if used:
        note["subagents"] = {
            call: _plain(each.input, each.output, each.total) for call, each in sorted(used.items())
        }
    return note


def _plain(sent: int, said: int, total: int) -> dict[str, int]:
    return {"input": sent, "output": said, "total": total}
