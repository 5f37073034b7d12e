"""The next status of a Sandbox out of the last one and a verdict, and the Event of a transition. Pure."""

from __future__ import annotations

from typing import Any

from skerry_api.phases import ConditionType, SandboxPhase
from skerry_api.sandbox import SandboxStatus
from skerry_operator.build.sandbox_pod import endpoint
from skerry_operator.plan.boxes.facts import BoxFacts
from skerry_operator.plan.boxes.verdict import BoxVerdict
from skerry_operator.plan.events import EventReason, EventRecord
from skerry_operator.status.conditions import Wanted, condition, merge

__all__ = ["box_events", "box_set", "next_box_status"]

_USABLE = frozenset({SandboxPhase.READY, SandboxPhase.PARKED})


def box_set(status: SandboxStatus) -> dict[str, Any]:
    """The whole status as JSON, as it is applied; the operator owns all of it."""
    return status.wire()


def next_box_status(b: BoxFacts, verdict: BoxVerdict) -> SandboxStatus:
    old, phase = b.status, verdict.phase
    usable = phase in _USABLE
    return SandboxStatus(
        observed_generation=b.sandbox.metadata.generation,
        phase=phase,
        pod_name=b.pod.name if b.pod else old.pod_name,
        pod_uid=b.pod.uid if b.pod else old.pod_uid,
        endpoint=_endpoint(b) if usable else None,
        replacements=b.replacements or None,
        holder=b.holder,
        idle_since=verdict.idle_since,
        mounts_thread_data=False if usable else None,
        conditions=merge(old.conditions, _conditions(b, verdict), b.sandbox.metadata.generation, b.now),
    )


def _endpoint(b: BoxFacts) -> str | None:
    return endpoint(b.pod.pod_ip) if b.pod and b.pod.pod_ip else b.status.endpoint


def _conditions(b: BoxFacts, verdict: BoxVerdict) -> list[Wanted]:
    phase, reason, message = verdict.phase, verdict.reason, verdict.message
    before = condition(b.status.conditions, ConditionType.READY)
    if verdict.words_vary and before is not None and before.reason == reason and not b.replaced:
        message = before.message
    stalled = verdict.blocked or phase is SandboxPhase.FAILED
    wanted = [Wanted(ConditionType.STALLED, "True" if stalled else "False", reason, message)]
    if phase is SandboxPhase.RELEASED:
        return wanted  # it is as it should be, and not Ready: without the condition kstatus calls it current
    return [Wanted(ConditionType.READY, "True" if phase in _USABLE else "False", reason, message), *wanted]


def box_events(old: SandboxStatus, new: SandboxStatus) -> tuple[EventRecord, ...]:
    said = condition(new.conditions, ConditionType.STALLED)
    words = f"{said.reason}: {said.message}" if said else ""
    if (new.replacements or 0) > (old.replacements or 0):
        return (
            EventRecord(EventReason.SANDBOX_REPLACED, f"Pod {new.pod_uid} replaces {old.pod_uid}", "Warning"),
        )
    if new.phase is old.phase:
        return ()
    match new.phase:
        case SandboxPhase.READY:
            first = old.phase in {None, SandboxPhase.PENDING} and not new.replacements
            return (EventRecord(EventReason.SANDBOX_READY, f"Pod {new.pod_name} is ready"),) if first else ()
        case SandboxPhase.FAILED:
            return (EventRecord(EventReason.SANDBOX_FAILED, words, "Warning"),)
        case SandboxPhase.TERMINATING | SandboxPhase.RELEASED:
            return (EventRecord(EventReason.SANDBOX_ENDED, words),)
        case _:
            return ()
