"""Which Event a transition is worth: at most one per status write."""

from __future__ import annotations

from skerry_api.agentrun import AgentRunStatus
from skerry_api.phases import RETRIED, TERMINAL, FailureClass, RunPhase, WaitReason
from skerry_operator.plan.events import EventReason, EventRecord
from skerry_operator.status.conditions import condition

__all__ = ["run_events"]

_ENDS = {
    RunPhase.SUCCEEDED: EventReason.SUCCEEDED,
    RunPhase.FAILED: EventReason.FAILED,
    RunPhase.TIMED_OUT: EventReason.TIMED_OUT,
    RunPhase.CANCELLED: EventReason.CANCELLED,
}
_RETRIED = {each.value for each in RETRIED}
_TROUBLE = {each.value for each in WaitReason} | {
    FailureClass.IMAGE_PULL, FailureClass.UNSCHEDULABLE, FailureClass.ADMISSION_FORBIDDEN, FailureClass.INVALID_SPEC,
}  # fmt: skip


def run_events(  # noqa: PLR0911 - one way out per kind of transition
    old: AgentRunStatus, new: AgentRunStatus
) -> tuple[EventRecord, ...]:
    phase = new.phase
    ready, before = condition(new.conditions, "Ready"), condition(old.conditions, "Ready")
    reason, words = (ready.reason, ready.message) if ready else ("", "")
    if phase in TERMINAL and old.phase not in TERMINAL and phase is not None:
        bad = phase in {RunPhase.FAILED, RunPhase.TIMED_OUT}
        said = f"{reason}: {words}" if bad else words or f"the run has ended: {phase}"
        return (EventRecord(_ENDS[phase], said, "Warning" if bad else "Normal"),)
    if old.epoch is not None and new.epoch is not None and new.epoch > old.epoch:
        known = before is not None and before.reason in _RETRIED
        why = (
            f"{before.reason}: {before.message}"
            if before and known
            else f"PodLost: Pod {old.pod_name} is gone"
        )
        said = f"{why}; Pod {new.pod_name} was created for epoch {new.epoch}"
        return (EventRecord(EventReason.RETRYING, said, "Warning"),)
    if new.cancelled and not old.cancelled and phase not in TERMINAL:
        return (EventRecord(EventReason.CANCELLING, words),)
    if reason in _TROUBLE and (before is None or before.reason != reason):
        return (EventRecord(EventReason.WAITING, f"{reason}: {words}", "Warning"),)
    if phase is RunPhase.RUNNING and old.phase is not RunPhase.RUNNING:
        return (EventRecord(EventReason.RUNNING, words),)
    if phase is RunPhase.QUEUED and old.phase is not RunPhase.QUEUED:
        return (EventRecord(EventReason.QUEUED, f"{reason}: {words}"),)
    if new.epoch is not None and old.epoch is None:
        return (EventRecord(EventReason.STARTED, f"Pod {new.pod_name} was created"),)
    return ()
