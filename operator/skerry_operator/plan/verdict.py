"""What a rule decides about a run: the phase with its reason, and what is to be done before and after."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from skerry_api.phases import FailureClass, QueueReason, RunPhase, StopReason
from skerry_operator.plan.actions import Action
from skerry_operator.plan.types import Plan

__all__ = ["Step", "Verdict"]


@dataclass(frozen=True, slots=True)
class Verdict:
    phase: RunPhase
    reason: str
    message: str = ""
    failure: FailureClass | None = None
    """Of Failed and TimedOut."""
    stop_reason: StopReason | None = None
    queue: tuple[int, QueueReason] | None = None
    """Exact position and what is waited for; of Queued."""
    blocked: bool = False
    """Nothing goes on until somebody acts: Stalled, though not ended; no start-up deadline runs."""
    settling: bool = False
    """Running, and about to be something else: Reconciling."""
    words_vary: bool = False
    """The message is somebody else's and flickers: the first one stays while the reason does."""
    late: FailureClass | None = None
    """The run is starting: past the start-up deadline it fails with this class."""
    before: tuple[Action, ...] = ()
    """Done first; the status comes from the plan after."""
    after: tuple[Action, ...] = ()
    """Done once the status says so: the decision stands on the object before it is acted on."""
    wake_at: datetime | None = None
    live: bool = False
    """Only to be believed on a live read; every action needs one anyway."""


Step = Verdict | Plan
"""A Plan where nothing is to be said in the status."""
