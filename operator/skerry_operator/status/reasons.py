"""The closed list of condition reasons that are no phase, failure class or wait reason of the API."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["Reason"]


class Reason(StrEnum):
    # Runs
    WAITING_FOR_ADMISSION = "WaitingForAdmission"
    STARTING = "Starting"
    """The runner Pod is there and its container is not yet."""
    CONTAINER_NOT_STARTED = "ContainerNotStarted"
    """The kubelet can't start the container; its words are the message."""
    REMAINS = "PodRemains"
    """A Pod of a former run or epoch is still there."""
    CANCELLING = "Cancelling"
    ANSWERED = "Answered"
    """The agent's question is answered; another epoch starts."""
    JOURNAL_UNWRITABLE = "JournalUnwritable"
    """Of the condition JournalComplete."""
    # Sandboxes
    PARKED = "Parked"
    IDLE_EXPIRED = "IdleExpired"
    LIFETIME_EXCEEDED = "LifetimeExceeded"
    UNUSED = "Unused"
    """Nobody asked for it any more before it was of use."""
    POD_GONE = "PodGone"
    TOO_MANY_REPLACEMENTS = "TooManyReplacements"
    TERMINATING = "Terminating"
