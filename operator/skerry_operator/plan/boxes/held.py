"""A Sandbox of a thread that a live run has asked for: make its Pod, keep it, replace it."""

from __future__ import annotations

from skerry_api.phases import SandboxPhase
from skerry_api.sandboxclass import Release
from skerry_operator.plan.actions import DeletePod, DeleteSandbox
from skerry_operator.plan.boxes.common import delete, make_pod, starting
from skerry_operator.plan.boxes.facts import BoxFacts
from skerry_operator.plan.boxes.verdict import BoxStep, BoxVerdict
from skerry_operator.plan.podview import NodeState, PodView
from skerry_operator.plan.podwords import loss_of
from skerry_operator.plan.types import Plan
from skerry_operator.status.conditions import condition
from skerry_operator.status.reasons import Reason

__all__ = ["destroy", "left_by_another", "no_pod", "pod_lost", "ready"]

_NODE_GONE = frozenset({NodeState.GONE, NodeState.OUT_OF_SERVICE})


def destroy(b: BoxFacts) -> Plan:
    """Its Pod goes with it."""
    meta = b.sandbox.metadata
    return Plan(actions=(DeleteSandbox(meta.namespace, meta.name, meta.uid),))


def left_by_another(b: BoxFacts) -> BoxStep | None:
    """Destroy means that no run finds what another left; who that was stands on the object."""
    left = b.claimant is not None and b.status.holder is not None and not b.holds_on
    return destroy(b) if left and b.release is Release.DESTROY else None


def no_pod(b: BoxFacts) -> BoxStep | None:
    if b.claimant is None or b.pod is not None:
        return None
    if not b.observed.live:
        return Plan(needs_live=True)
    if b.known_pod is not None and b.replacements >= b.settings.max_replacements:
        ready = condition(b.status.conditions, "Ready")
        words = f": {ready.message}" if ready and ready.reason == Reason.POD_GONE else ""
        message = f"its Pod was replaced {b.replacements} times and is gone again{words}"
        return BoxVerdict(SandboxPhase.FAILED, Reason.TOO_MANY_REPLACEMENTS, message, live=True)
    return make_pod(b)


def pod_lost(b: BoxFacts) -> BoxStep | None:
    """A Pod that is ending is waited out, one that has ended is cleared away; then `no_pod` makes the next."""
    if b.claimant is None or b.pod is None:
        return None
    loss = loss_of(b.pod)
    if loss is None:
        return None
    return BoxVerdict(
        SandboxPhase.PENDING, Reason.POD_GONE, loss.message,
        words_vary=True, after=_clear(b.pod), live=True,
    )  # fmt: skip


def _clear(pod: PodView) -> tuple[DeletePod, ...]:
    if pod.node_state in _NODE_GONE and not pod.finished:
        return (delete(pod, 0),)
    return () if pod.terminating else (delete(pod),)


def ready(b: BoxFacts) -> BoxStep | None:
    if b.claimant is None or b.pod is None:
        return None
    # Once Ready, a probe that fails under load is no reason to take it away: unknown is not dead.
    kept = b.status.phase is SandboxPhase.READY and b.status.pod_uid == b.pod.uid and b.holds_on
    if not (b.pod.ready or kept):
        return starting(b, b.pod)
    return BoxVerdict(SandboxPhase.READY, SandboxPhase.READY, f"held by run {b.claimant.metadata.name}")
