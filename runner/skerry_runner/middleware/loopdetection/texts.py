"""What the agent is told: a warning at the end of a request, or the words that end its run. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from skerry_api.phases import StopReason
from skerry_runner.messages import HIDDEN, STOP
from skerry_runner.middleware.loopdetection.judge import Finding, Layer
from skerry_runner.toolcalls import without_calls

__all__ = ["FORCED_STOP", "WARNING", "WARNING_NAME", "stopped", "warning_message", "warning_text"]

FORCED_STOP = "[FORCED STOP]"
WARNING = "[LOOP WARNING]"
WARNING_NAME = "loop_warning"
"""Name of the hidden message, and its flag in additional_kwargs."""
NAMES_SHOWN = 5


def _names(found: Finding) -> str:
    shown = ", ".join(f"`{name[:64]}`" for name in found.tools[:NAMES_SHOWN])
    more = len(found.tools) - NAMES_SHOWN
    return f"{shown} and {more} more" if more > 0 else shown


def warning_text(found: Finding) -> str:
    """Why, and what to do instead."""
    if found.layer is Layer.ACTION:
        return (
            f"You have made the same call{'s' if len(found.tools) > 1 else ''} of {_names(found)} {found.count} times. "
            "Repeating it brings nothing new: use what you have, try another way, or give your answer now."
        )
    return (
        f"You have called {_names(found)} {found.count} times in this run. "
        "Check whether you still get closer to the goal; if not, give your answer with what you know."
    )


def warning_message(hints: Sequence[str], after: AnyMessage | None) -> HumanMessage:
    """The hidden message at the end of one request; in no state."""
    return HumanMessage(
        content="\n\n".join(f"{WARNING} {hint}" for hint in hints),
        id=f"{after.id if after else ''}__loop_warning",
        name=WARNING_NAME,
        additional_kwargs={HIDDEN: True, WARNING_NAME: True},
    )


def stopped(message: AIMessage, found: Finding) -> AIMessage:
    """The message under its own id, final: it asks for no tool any more, and says why."""
    what = (
        f"the same call of {_names(found)} came {found.count} times"
        if found.layer is Layer.ACTION
        else f"{_names(found)} was called {found.count} times"
    )
    text = f"{FORCED_STOP} The run was ended because it went in circles: {what}. This is how far it came."
    return without_calls(message, text=text, kwargs={STOP: StopReason.LOOP_CAPPED.value})
