"""How one piece of work ended, and the message that tells the lead. Pure.

Status is read from the message's kwargs, never from its text: a text may say anything.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from langchain_core.messages import ToolMessage

from skerry_api.phases import OutcomeClass, StopReason
from skerry_api.report import Tokens
from skerry_runner.ending import end_of
from skerry_runner.subagentusage import with_subagent_usage
from skerry_runner.usage import Counts

__all__ = [
    "STATUS_KEY", "TASK", "TURNS_KEY", "Ending", "SubagentStatus", "WorkResult", "cancelled", "failed", "failed_message", "interrupted", "message_of", "result_of", "timed_out",
]  # fmt: skip

TASK = "task"
"""Name of the tool."""
STATUS_KEY = "subagent_status"
TURNS_KEY = "subagent_turns"
ERROR_MAX = 2000


class SubagentStatus(StrEnum):
    """How it ended; kept under `subagent_status`."""

    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"


@dataclass(frozen=True)
class WorkResult:
    """`text` is what the lead reads. `reason`: a StopReason of work that was completed, else a word for the failure."""

    status: SubagentStatus
    text: str
    reason: str
    error: str | None = None


class Ending:
    """A terminal state that is set once: the first one stands."""

    def __init__(self) -> None:
        self.result: WorkResult | None = None

    def settle(self, result: WorkResult) -> WorkResult:
        """Set it; returns the one that stands."""
        if self.result is None:
            self.result = result
        return self.result


def result_of(state: Mapping[str, Any], run: str) -> WorkResult:
    """What the final state of a subagent's graph means."""
    outcome, stop, answer, _ = end_of(state, run)
    if outcome.class_ is not OutcomeClass.SUCCEEDED:
        return failed(outcome.reason or outcome.class_.value, outcome.message)
    reason = (stop or StopReason.END_TURN).value
    if answer is None:
        return failed(reason, f"it was stopped ({reason}) before it said anything")
    if reason != StopReason.END_TURN:
        answer = f"{answer}\n\n(The subagent was stopped: {reason}. This may be incomplete.)"
    return WorkResult(SubagentStatus.COMPLETED, answer, reason)


def failed(reason: str, message: str) -> WorkResult:
    """Work that came to nothing."""
    error = " ".join(message.split())[:ERROR_MAX] or reason
    return WorkResult(
        SubagentStatus.FAILED,
        f"Error: the subagent failed ({reason}): {error}. Do the work yourself, or hand it on in another way.",
        reason,
        error,
    )


def timed_out(seconds: int, last_words: str) -> WorkResult:
    """Work that was ended by its time limit; what was said last may be of use."""
    error = f"not done within {seconds} s"
    said = f" What it said last: {last_words[:ERROR_MAX]}" if last_words.strip() else ""
    return WorkResult(
        SubagentStatus.TIMED_OUT,
        f"Error: the subagent was ended: {error}. Its work may be done in part.{said}",
        "TimedOut",
        error,
    )


def cancelled() -> WorkResult:
    """Work that was ended together with the run, or on its own."""
    return WorkResult(
        SubagentStatus.CANCELLED,
        "Error: the subagent was cancelled. Its work may be done in part.",
        "Cancelled",
        "it was cancelled",
    )


def interrupted(by: str) -> WorkResult:
    """Work that stopped together with the graph around it; `by` is the name of what passed through."""
    return replace(cancelled(), reason=by, error="the run stopped before it was done")


def message_of(result: WorkResult, *, call_id: str, kind: str, execution: str, used: Counts) -> ToolMessage:
    """The result of the call of `task`."""
    kwargs: dict[str, Any] = {
        STATUS_KEY: result.status.value,
        "subagent_type": kind,
        "subagent_id": execution,
        "subagent_reason": result.reason,
        TURNS_KEY: used.turns,
    }
    if result.error is not None:
        kwargs["subagent_error"] = result.error
    message = ToolMessage(
        content=result.text,
        name=TASK,
        tool_call_id=call_id,
        status="success" if result.status is SubagentStatus.COMPLETED else "error",
        additional_kwargs=kwargs,
    )
    return with_subagent_usage(message, Tokens(input=used.input, output=used.output, total=used.total))


def failed_message(message: ToolMessage) -> ToolMessage:
    """A result of `task` that no subagent had a part in, such as a refused argument, under its own id: it has failed too."""
    if message.status != "error" or STATUS_KEY in message.additional_kwargs:
        return message
    kwargs = {**message.additional_kwargs, STATUS_KEY: SubagentStatus.FAILED.value}
    return message.model_copy(update={"additional_kwargs": kwargs})
