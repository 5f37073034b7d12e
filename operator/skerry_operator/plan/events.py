"""The closed list of Kubernetes Events; a plan carries them with the status of a transition, never without."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

__all__ = ["EventReason", "EventRecord"]


class EventReason(StrEnum):
    """`reason` of every Event that the operator emits. Runs first, then Sandboxes."""

    WAITING = "Waiting"
    QUEUED = "Queued"
    STARTED = "Started"
    RUNNING = "Running"
    RETRYING = "Retrying"
    AWAITING_INPUT = "AwaitingInput"
    RESUMED = "Resumed"
    CANCELLING = "Cancelling"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    TIMED_OUT = "TimedOut"
    CANCELLED = "Cancelled"
    SANDBOX_READY = "SandboxReady"
    SANDBOX_REPLACED = "SandboxReplaced"
    SANDBOX_FAILED = "SandboxFailed"
    SANDBOX_ENDED = "SandboxEnded"


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An Event regarding the object that was planned; the shell adds names and times."""

    reason: EventReason
    message: str
    type: Literal["Normal", "Warning"] = "Normal"
