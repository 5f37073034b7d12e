"""Pods that end without a report: what kind of fault it was, and whether the run starts again."""

from __future__ import annotations

from skerry_api.labels import Label
from skerry_api.persistence import PersistenceType
from skerry_api.phases import RETRIED, FailureClass, RunPhase
from skerry_operator.plan.facts import RunFacts
from skerry_operator.plan.lookup import Found
from skerry_operator.plan.podview import NodeState, PodView
from skerry_operator.plan.podwords import Loss, loss_of
from skerry_operator.plan.resolve import waiting_reason
from skerry_operator.plan.rules.ending import delete, failed
from skerry_operator.plan.types import Plan
from skerry_operator.plan.verdict import Step, Verdict
from skerry_operator.status.conditions import condition

__all__ = ["lost", "recorded_loss"]

_NODE_GONE = frozenset({NodeState.GONE, NodeState.OUT_OF_SERVICE})


def lost(f: RunFacts) -> Step | None:  # noqa: PLR0911 - one way out per state of the Pod
    """None where nothing is lost, and where a lost epoch may be followed by another one."""
    if not f.started or (f.report is not None and f.report.awaits):
        return None
    if f.pod is None:
        return _gone(f)
    loss = loss_of(f.pod)
    if loss is None:
        return None
    loss = _interrupted(f, loss)
    if loss.failure not in RETRIED:
        return failed(loss.failure, loss.message)
    if not f.observed.live:
        return Plan(needs_live=True)
    if f.pod.node_state in _NODE_GONE and not f.pod.finished:
        return _leaving(f, loss, f.pod, force=True)
    if f.pod.terminating:
        # It may still report until it is gone, and a new epoch waits for that anyway.
        return _leaving(f, loss)
    refused = _why_not_again(f)
    if refused:
        return failed(loss.failure, f"{loss.message}; not started again: {refused}")
    return _leaving(f, loss, f.pod)


def _gone(f: RunFacts) -> Step | None:
    if not f.observed.live:
        return Plan(needs_live=True)
    loss = recorded_loss(f)
    refused = _why_not_again(f)
    return failed(loss.failure, f"{loss.message}; not started again: {refused}") if refused else None


def recorded_loss(f: RunFacts) -> Loss:
    """How the last epoch was lost, as the status has kept it; its Pod can't be asked any more."""
    ready = condition(f.status.conditions, "Ready")
    reason = waiting_reason(f.run)
    if ready is not None and reason in {each.value for each in RETRIED}:
        return Loss(FailureClass(reason), ready.message)
    return Loss(FailureClass.POD_LOST, f"Pod {f.status.pod_name or ''} is gone")


def _why_not_again(f: RunFacts) -> str | None:
    """Why there is no retry. To be asked on a live read: the runner reports its first tool call before it."""
    if f.tool_calls > 0 and not _durable(f):
        return "a tool has run, and with persistence Ephemeral its epoch can't be resumed"
    retries = f.run.spec.retries
    return f"its retries are used up ({retries})" if f.attempts > retries else None


def _durable(f: RunFacts) -> bool:
    """Whether a new Pod finds the lost one's checkpoints. The profile may have changed since; the Pod knows."""
    if f.pod is not None and (kept := f.pod.labels.get(Label.PERSISTENCE)) is not None:
        return kept != PersistenceType.EPHEMERAL
    profile, used = f.observed.profile, f.status.profile
    if not isinstance(profile, Found) or used is None:
        return False
    same = (used.uid, used.generation) == (profile.value.metadata.uid, profile.value.metadata.generation)
    return same and profile.value.spec.persistence.type.durable


def _interrupted(f: RunFacts, loss: Loss) -> Loss:
    if f.report is None or f.report.final or loss.failure is not FailureClass.APP_ERROR:
        return loss
    words = f.report.outcome.message or "it was told to stop"
    return Loss(FailureClass.POD_LOST, f"the runner was interrupted: {words}")


def _leaving(f: RunFacts, loss: Loss, pod: PodView | None = None, *, force: bool = False) -> Verdict:
    """Keep the kind of loss in the status, then (only then) delete what is in the way of the next epoch."""
    phase = RunPhase.RUNNING if f.was_running else RunPhase.PROVISIONING
    return Verdict(
        phase, loss.failure, loss.message, settling=True, words_vary=True, live=True,
        after=(delete(pod, 0 if force else None),) if pod else (),
    )  # fmt: skip
