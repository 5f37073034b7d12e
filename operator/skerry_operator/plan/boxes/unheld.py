"""A Sandbox of a thread that nobody holds: parked until it is idle for long enough, or gone at once."""

from __future__ import annotations

from datetime import datetime

from skerry_api.phases import SandboxPhase
from skerry_api.sandboxclass import Release
from skerry_operator.plan.boxes.common import SOON, ask
from skerry_operator.plan.boxes.facts import BoxFacts
from skerry_operator.plan.boxes.held import destroy
from skerry_operator.plan.boxes.verdict import BoxStep, BoxVerdict
from skerry_operator.plan.idle import Ask, Extend, Keep, judge_idle
from skerry_operator.plan.lookup import Unknown
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.podwords import loss_of
from skerry_operator.plan.types import Plan
from skerry_operator.status.reasons import Reason

__all__ = ["condemned", "failed", "outlived", "parked", "released"]


def condemned(b: BoxFacts) -> BoxStep | None:
    """The decision stands on the object; it is carried out whatever has changed since."""
    return destroy(b) if b.status.phase is SandboxPhase.TERMINATING else None


def failed(b: BoxFacts) -> BoxStep | None:
    """Kept for its run to read why; then gone, so that the thread can have another."""
    if b.status.phase is not SandboxPhase.FAILED:
        return None
    return Plan() if b.holds_on else destroy(b)


def released(b: BoxFacts) -> BoxStep | None:
    """The run is over: the class says what that means. The park clock's stamp is written here, once."""
    if b.claimant is not None:
        return None
    if isinstance(b.kind, Unknown):
        return Plan(wake_at=b.now + SOON)
    if b.release is Release.DESTROY:
        return destroy(b)
    if b.status.phase is SandboxPhase.PARKED:
        return None
    usable = b.pod is not None and loss_of(b.pod) is None
    if not usable or b.status.phase is not SandboxPhase.READY:
        return _end(b, Reason.UNUSED, "nobody asks for it, and it holds nothing")
    return _parked(b, b.now)


def outlived(b: BoxFacts) -> BoxStep | None:
    """MaxLifetime bounds a sandboxd that lies about its use; it never takes a sandbox from its run."""
    if b.claimant is not None or b.life_ends is None or b.now < b.life_ends:
        return None
    return _end(b, Reason.LIFETIME_EXCEEDED, "its maxLifetimeSeconds are over and nobody holds it")


def parked(b: BoxFacts) -> BoxStep | None:
    if b.claimant is not None:
        return None
    if not b.observed.live and (b.pod is None or loss_of(b.pod)):
        return Plan(needs_live=True)
    loss = loss_of(b.pod) if b.pod else None
    if b.pod is None or loss is not None:
        return _end(b, Reason.POD_GONE, loss.message if loss else f"Pod {b.sandbox.metadata.name} is gone")
    return _idle(b, b.pod, b.status.idle_since or b.now)


def _idle(b: BoxFacts, pod: PodView, since: datetime) -> BoxStep:
    match judge_idle(since, b.idle, pod, b.observed.probe, now=b.now, settings=b.settings):
        case Keep(until):
            return _parked(b, since, min(until, b.life_ends or until))
        case Ask():
            return Plan(actions=(ask(b, pod),))
        case Extend(used):
            return _parked(b, used, used + b.idle)
        case _:
            words = f"nobody has used it for {int(b.idle.total_seconds())} s"
            return _end(b, Reason.IDLE_EXPIRED, words)


def _parked(b: BoxFacts, since: datetime, wake: datetime | None = None) -> BoxVerdict:
    message = "kept for the thread's next run"
    return BoxVerdict(
        SandboxPhase.PARKED, Reason.PARKED, message, idle_since=since, wake_at=wake or since + b.idle
    )


def _end(b: BoxFacts, reason: Reason, message: str) -> BoxVerdict:
    return BoxVerdict(SandboxPhase.TERMINATING, reason, message, idle_since=b.status.idle_since, live=True)
