"""What a subagent used, carried home on the result of its call of `task`: written by the tool, read by TokenUsage."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from langchain_core.messages import BaseMessage, ToolMessage

from skerry_api.report import Tokens

__all__ = ["SUBAGENT_USAGE", "subagent_usage", "usages_by_call", "with_subagent_usage"]

SUBAGENT_USAGE = "subagent_usage"
"""Key in additional_kwargs of a call's result: {input, output, total} of the subagent that made it."""


def with_subagent_usage(result: ToolMessage, used: Tokens) -> ToolMessage:
    """The result, saying what its subagent used; also when it failed, was cancelled or ran out of time."""
    note = {"input": used.input, "output": used.output, "total": used.total}
    return result.model_copy(update={"additional_kwargs": {**result.additional_kwargs, SUBAGENT_USAGE: note}})


def subagent_usage(message: BaseMessage) -> Tokens | None:
    """What a result says, if it is one of a subagent."""
    note = message.additional_kwargs.get(SUBAGENT_USAGE)
    if note is None or not isinstance(note, Mapping) or not isinstance(message, ToolMessage):
        return None
    return Tokens.model_validate(note)


def usages_by_call(messages: Iterable[BaseMessage]) -> dict[str, Tokens]:
    """By tool call id, what subagents used."""
    return {
        message.tool_call_id: used
        for message in messages
        if isinstance(message, ToolMessage) and (used := subagent_usage(message)) is not None
    }
