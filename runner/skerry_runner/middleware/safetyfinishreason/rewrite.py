"""What becomes of a stopped answer: its calls go, and it says why. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from langchain_core.messages import AIMessage

from skerry_api.phases import StopReason
from skerry_runner.messages import STOP, text_of
from skerry_runner.middleware.safetyfinishreason.detect import SafetyStop
from skerry_runner.toolcalls import declared_calls, names_of, without_calls

__all__ = ["SAFETY", "Action", "SafeAnswer", "made_safe"]

SAFETY = "safety_termination"
"""Key in additional_kwargs: what the provider said, and which calls were suppressed."""


class Action(StrEnum):
    SUPPRESS = "suppress_tool_calls"
    FILL_BLANK = "fill_blank"
    """There was no text: a blank answer in the history is refused by providers."""
    MARK = "mark"
    """A text without calls stays as it is."""


@dataclass(frozen=True)
class SafeAnswer:
    message: AIMessage
    action: Action
    suppressed: tuple[str, ...]
    """Names of calls that are not made; their arguments may be what the provider objected to."""


def made_safe(message: AIMessage, stop: SafetyStop) -> SafeAnswer:
    """The answer under its own id, final, with the provider's finish reason kept."""
    names = names_of(declared_calls(message))
    if names:
        action = Action.SUPPRESS
        count = "1 tool call" if len(names) == 1 else f"{len(names)} tool calls"
        text: str | None = (
            f"The model's provider stopped this answer for safety ({stop.value}). It may be incomplete; "
            f"{count} that it began {'was' if len(names) == 1 else 'were'} not made."
        )
    elif not text_of(message).strip():
        action = Action.FILL_BLANK
        text = f"The model's provider stopped this answer for safety ({stop.value}) before it said anything."
    else:
        action, text = Action.MARK, None
    note: dict[str, Any] = {
        "adapter": stop.adapter,
        "field": stop.field,
        "value": stop.value,
        "suppressed": {"count": len(names), "names": list(names)},
    }
    kwargs = {STOP: StopReason.SAFETY_CAPPED.value, SAFETY: note}
    safe = without_calls(message, text=text, kwargs=kwargs, keep_finish_reason=True)
    return SafeAnswer(safe, action, names)
