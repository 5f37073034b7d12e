"""What can go wrong with kept state. All end the run, whichever way they come through the graph."""

from __future__ import annotations

from skerry_api.phases import OutcomeClass
from skerry_api.report import Outcome
from skerry_runner.outcome import RunEnded, app_error, cancelled, cut_bytes
from skerry_runner.ports import CancelReason

__all__ = ["StateFenced", "StateGone", "StateLost", "StateUnusable"]

MESSAGE_MAX = 2048


class StateLost(RunEnded):
    """The place can't be reached any more. Not an end of the run: another epoch resumes where this one stood."""

    def __init__(self, message: str) -> None:
        super().__init__(
            Outcome(
                class_=OutcomeClass.INTERRUPTED, reason="StateLost", message=cut_bytes(message, MESSAGE_MAX)
            )
        )


class StateUnusable(RunEnded):
    """The place, or what is in it, can't be used, and trying again would not help."""

    def __init__(self, message: str) -> None:
        super().__init__(app_error("StateUnusable", message))


class StateGone(RunEnded):
    """The place is there, and what an earlier epoch of the run kept in it is not: begun anew, its tools would run twice."""

    def __init__(self) -> None:
        super().__init__(
            app_error(
                "StateGone",
                "an earlier epoch of this run has called tools or asked, and nothing of it is kept here any more",
            )
        )


class StateFenced(RunEnded):
    """A newer epoch of the run, or another run of the thread, writes there now."""

    def __init__(self) -> None:
        super().__init__(cancelled(CancelReason.FENCED))
