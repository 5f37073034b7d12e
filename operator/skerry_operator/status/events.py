"""Which Event a transition is worth: at most one per status write."""

from __future__ import annotations

from skerry_api.agentrun import AgentRunStatus
from skerry_api.phases import RETRIED, TERMINAL, FailureClass, RunPhase, WaitReason
from skerry_operator.plan.events import EventReason, EventRecord
from skerry_operator.plan.report import ended_asking
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


def run_events(old: AgentRunStatus, new: AgentRunStatus) -> tuple[EventRecord, ...]:
    event = _ended(old, new) or _begun_again(old, new) or _asked(old, new) or _moved(old, new)
    return (event,) if event else ()


def _words(status: AgentRunStatus) -> tuple[str, str]:
    ready = condition(status.conditions, "Ready")
    return (ready.reason, ready.message) if ready else ("", "")


def _ended(old: AgentRunStatus, new: AgentRunStatus) -> EventRecord | None:
    phase = new.phase
    if phase is None or phase not in TERMINAL or old.phase in TERMINAL:
        return None
    reason, words = _words(new)
    bad = phase in {RunPhase.FAILED, RunPhase.TIMED_OUT}
    said = f"{reason}: {words}" if bad else words or f"the run has ended: {phase}"
    return EventRecord(_ENDS[phase], said, "Warning" if bad else "Normal")


def _begun_again(old: AgentRunStatus, new: AgentRunStatus) -> EventRecord | None:
    if old.epoch is None or new.epoch is None or new.epoch <= old.epoch:
        return None
    reason, words = _words(old)
    again = f"Pod {new.pod_name} was created for epoch {new.epoch}"
    if ended_asking(old):
        return EventRecord(EventReason.RESUMED, f"the question was answered; {again}")
    why = f"{reason}: {words}" if reason in _RETRIED else f"PodLost: Pod {old.pod_name} is gone"
    return EventRecord(EventReason.RETRYING, f"{why}; {again}", "Warning")


def _asked(old: AgentRunStatus, new: AgentRunStatus) -> EventRecord | None:
    """Cancelling, and questions."""
    _, words = _words(new)
    if new.cancelled and not old.cancelled and new.phase not in TERMINAL:
        return EventRecord(EventReason.CANCELLING, words)
    asks, asked = (status.phase is RunPhase.AWAITING_INPUT for status in (new, old))
    if asks and (not asked or _words(old)[1] != words):
        return EventRecord(EventReason.AWAITING_INPUT, words)
    if asked and new.phase is RunPhase.RUNNING:
        return EventRecord(EventReason.RESUMED, f"the question was answered; {words}")
    return None


def _moved(old: AgentRunStatus, new: AgentRunStatus) -> EventRecord | None:
    phase, (reason, words) = new.phase, _words(new)
    if reason in _TROUBLE and _words(old)[0] != reason:
        return EventRecord(EventReason.WAITING, f"{reason}: {words}", "Warning")
    if phase is RunPhase.RUNNING and old.phase is not RunPhase.RUNNING:
        return EventRecord(EventReason.RUNNING, words)
    if phase is RunPhase.QUEUED and old.phase is not RunPhase.QUEUED:
        return EventRecord(EventReason.QUEUED, f"{reason}: {words}")
    if new.epoch is not None and old.epoch is None:
        return EventRecord(EventReason.STARTED, f"Pod {new.pod_name} was created")
    return None
