"""plan_admission: who may start, of all runs of a namespace that are not over. One decider, oldest first.

Nothing is remembered that the objects don't say: a run counts as admitted once it has an epoch, a Pod or a phase
from Provisioning on; `ObservedQueue.admitted` only bridges the moment until its Pod is seen.
"""

from __future__ import annotations

from datetime import datetime

from skerry_api.labels import Label
from skerry_api.phases import TERMINAL, QueueReason, RunPhase, WaitReason
from skerry_operator.plan.lookup import UNKNOWN, Found
from skerry_operator.plan.resolve import class_name, sandbox_name, waiting_reason
from skerry_operator.plan.types import AdmissionPlan, Admitted, Decision, ObservedQueue, QueueEntry, Waits
from skerry_operator.settings import PlanSettings

__all__ = ["plan_admission"]

_BEFORE = frozenset({None, RunPhase.PENDING, RunPhase.QUEUED})

_WORDS = {
    QueueReason.THREAD_BUSY: "another run of the same thread is before it",
    QueueReason.SANDBOX_CLASS_CONFLICT: "the thread still has a sandbox of another class, or a standalone one",
    QueueReason.NAMESPACE_LIMIT: "the namespace has as many runs as it may (maxRunsPerNamespace)",
}


def plan_admission(
    observed: ObservedQueue,
    now: datetime,  # noqa: ARG001 - all planners look alike; the order of creation decides, not the clock
    settings: PlanSettings,
) -> AdmissionPlan:
    entries = sorted(filter(_alive, observed.entries), key=_age) if observed.prepared else []
    inside = [entry for entry in entries if _inside(observed, entry)]
    decisions: dict[str, Decision] = {entry.run.metadata.uid: Admitted() for entry in inside}
    threads = {sandbox_name(entry.run) for entry in inside}
    free = settings.max_runs_per_namespace - len(inside)
    position = 0
    for entry in entries:
        uid, thread = entry.run.metadata.uid, sandbox_name(entry.run)
        if uid in decisions or not _takes_part(observed, entry):
            continue
        reason = _obstacle(observed, entry, busy=thread in threads, free=free)
        # Also of a run that waits: a younger run of the thread must not overtake it.
        threads.add(thread)
        if reason is None:
            decisions[uid], free = Admitted(), free - 1
        else:
            position += 1
            decisions[uid] = Waits(position, reason, _WORDS[reason])
    admitted = (uid for uid, decision in decisions.items() if isinstance(decision, Admitted))
    return AdmissionPlan(decisions, frozenset(admitted))


def _alive(entry: QueueEntry) -> bool:
    return entry.run.status.phase not in TERMINAL and entry.run.metadata.deletion_timestamp is None


def _age(entry: QueueEntry) -> tuple[str, str]:
    """Times have whole seconds; within one the name decides, so that `kubectl apply -f DIR` has an order to rely on."""
    meta = entry.run.metadata
    return (meta.creation_timestamp.isoformat() if meta.creation_timestamp else "", meta.name)


def _inside(observed: ObservedQueue, entry: QueueEntry) -> bool:
    status = entry.run.status
    if status.epoch is not None or entry.has_pod or status.phase not in _BEFORE:
        return True
    return entry.run.metadata.uid in observed.admitted and _takes_part(observed, entry)


def _takes_part(observed: ObservedQueue, entry: QueueEntry) -> bool:
    """Runs that wait for something that a person must bring, or are about to end, hold up nobody."""
    run, profile = entry.run, entry.profile
    if run.spec.cancel or run.status.cancelled or not isinstance(profile, Found):
        return False
    kind = observed.classes.get(class_name(run, profile.value), UNKNOWN)
    return isinstance(kind, Found) and waiting_reason(run) != WaitReason.CONFIG_MAP_NOT_FOUND


def _obstacle(observed: ObservedQueue, entry: QueueEntry, *, busy: bool, free: int) -> QueueReason | None:
    if busy:
        return QueueReason.THREAD_BUSY
    if _other_class(observed, entry):
        return QueueReason.SANDBOX_CLASS_CONFLICT
    return QueueReason.NAMESPACE_LIMIT if free <= 0 else None


def _other_class(observed: ObservedQueue, entry: QueueEntry) -> bool:
    """The thread's sandbox is of another class, or a person's own under its name."""
    sandbox = observed.sandboxes.get(sandbox_name(entry.run))
    if sandbox is None or not isinstance(entry.profile, Found):
        return False
    if sandbox.metadata.labels.get(Label.OPERATOR_MADE) != "true":
        return True
    return sandbox.spec.class_ref.name != class_name(entry.run, entry.profile.value)
