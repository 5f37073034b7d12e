"""spec.cancel: the runner ends itself; its Pod is deleted if it has not after a while, or can't."""

from __future__ import annotations

from skerry_api.phases import ConditionType, RunPhase
from skerry_operator.plan.facts import RunFacts
from skerry_operator.plan.podview import NodeState, PodView
from skerry_operator.plan.rules.ending import delete
from skerry_operator.plan.verdict import Step, Verdict
from skerry_operator.status.conditions import condition
from skerry_operator.status.reasons import Reason

__all__ = ["cancelled"]

_NODE_GONE = frozenset({NodeState.GONE, NodeState.OUT_OF_SERVICE})


def cancelled(f: RunFacts) -> Step | None:  # noqa: PLR0911 - one way out per state of the Pod
    if not f.cancelled:
        return None
    pod = f.pod
    if f.report is not None and f.report.awaits and (pod is None or pod.finished or pod.container.terminated):
        return _end("cancelled while it awaited an answer")
    if pod is None:
        words = "cancelled; its Pod is gone" if f.started else "cancelled before it started"
        return _end(words)
    if pod.finished or pod.container.terminated:
        return _end("cancelled; the runner ended without a report of its own")
    if pod.terminating:
        return _leaving(f, pod)
    if not pod.container.running:
        # Nobody is there to end itself.
        return _settling(f, "the Pod is deleted before its container starts", pod)
    if not f.was_running:
        return None  # first Running, so that the grace period has a beginning on the object
    return _asked(f, pod)


def _end(words: str) -> Verdict:
    return Verdict(RunPhase.CANCELLED, RunPhase.CANCELLED, words, live=True)


def _asked(f: RunFacts, pod: PodView) -> Verdict:
    moving = condition(f.status.conditions, ConditionType.RECONCILING)
    begun = moving.last_transition_time if moving and moving.status == "True" else f.now
    until = begun + f.settings.cancel_grace
    verdict = Verdict(
        RunPhase.RUNNING, Reason.CANCELLING, "the runner is ending itself", settling=True, wake_at=until
    )
    if f.now < until:
        return verdict
    return Verdict(RunPhase.RUNNING, Reason.CANCELLING, verdict.message, settling=True, after=(delete(pod),))


def _leaving(f: RunFacts, pod: PodView) -> Verdict:
    assert pod.deletion_timestamp is not None  # noqa: S101 - what `terminating` means
    if pod.node_state in _NODE_GONE:
        return _settling(f, "the Pod's Node is gone", pod, force=True)
    until = pod.deletion_timestamp + f.settings.terminating_grace
    if f.now >= until:
        # Nothing is started any more, so nothing is at risk in ending before the Pod object is gone.
        return _end("cancelled; its Pod is still terminating")
    return Verdict(_phase(f), Reason.CANCELLING, "the Pod is terminating", settling=True, wake_at=until)


def _settling(f: RunFacts, words: str, pod: PodView, *, force: bool = False) -> Verdict:
    act = delete(pod, 0 if force else None)
    return Verdict(_phase(f), Reason.CANCELLING, words, settling=True, after=(act,))


def _phase(f: RunFacts) -> RunPhase:
    return RunPhase.RUNNING if f.was_running else RunPhase.PROVISIONING
