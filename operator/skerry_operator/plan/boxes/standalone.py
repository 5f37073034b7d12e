"""A person's Sandbox, used through the command line: no run gets it, we never delete the object, it ends Released."""

from __future__ import annotations

from datetime import datetime

from skerry_api.phases import SandboxPhase
from skerry_operator.plan.boxes.common import ask, delete, make_pod, starting
from skerry_operator.plan.boxes.facts import BoxFacts
from skerry_operator.plan.boxes.verdict import BoxStep, BoxVerdict
from skerry_operator.plan.idle import Ask, Extend, Keep, judge_idle
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.podwords import loss_of
from skerry_operator.plan.types import Plan
from skerry_operator.status.reasons import Reason

__all__ = ["ended", "no_pod", "outlived", "pod_lost", "usable"]

_ENDED = frozenset({SandboxPhase.RELEASED, SandboxPhase.FAILED})


def ended(b: BoxFacts) -> BoxStep | None:
    if b.status.phase not in _ENDED:
        return None
    left = b.pod is not None and not b.pod.terminating
    return Plan(actions=(delete(b.pod),) if left and b.pod else ())


def no_pod(b: BoxFacts) -> BoxStep | None:
    if b.pod is not None:
        return None
    if b.status.pod_uid is None:
        return make_pod(b)
    return _released(b, Reason.POD_GONE, f"Pod {b.sandbox.metadata.name} is gone")


def pod_lost(b: BoxFacts) -> BoxStep | None:
    loss = loss_of(b.pod) if b.pod else None
    return _released(b, Reason.POD_GONE, loss.message) if loss else None


def outlived(b: BoxFacts) -> BoxStep | None:
    if b.life_ends is None or b.now < b.life_ends:
        return None
    return _released(b, Reason.LIFETIME_EXCEEDED, "its maxLifetimeSeconds are over")


def usable(b: BoxFacts) -> BoxStep | None:
    pod = b.pod
    assert pod is not None  # noqa: S101 - `no_pod` comes before
    if not pod.ready and b.status.phase is not SandboxPhase.READY:
        return starting(b, pod)
    since = b.status.idle_since or b.now
    return _idle(b, pod, since)


def _idle(b: BoxFacts, pod: PodView, since: datetime) -> BoxStep:
    match judge_idle(since, b.idle, pod, b.observed.probe, now=b.now, settings=b.settings):
        case Keep(until):
            return _ready(since, min(until, b.life_ends or until))
        case Ask():
            return Plan(actions=(ask(b, pod),))
        case Extend(used):
            return _ready(used, used + b.idle)
        case _:
            words = f"nobody has used it for {int(b.idle.total_seconds())} s"
            return _released(b, Reason.IDLE_EXPIRED, words)


def _ready(since: datetime, wake: datetime) -> BoxVerdict:
    message = "standalone; no run gets it"
    return BoxVerdict(SandboxPhase.READY, SandboxPhase.READY, message, idle_since=since, wake_at=wake)


def _released(b: BoxFacts, reason: Reason, message: str) -> BoxVerdict:
    return BoxVerdict(SandboxPhase.RELEASED, reason, message, idle_since=b.status.idle_since, live=True)
