"""Observations of a run for tests of plan_run's rules."""

from __future__ import annotations

from typing import Any

from skerry_api.agentrun import AgentRun
from skerry_operator.plan.lookup import Found, Missing
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.types import Admitted, ObservedRun, Plan
from skerry_testing.plans import NS, a_class, a_profile

__all__ = ["PROVISIONING", "RUNNING", "report", "see", "status_of"]

Json = dict[str, Any]
PROVISIONING: Json = {
    "observedGeneration": 1, "phase": "Provisioning", "epoch": 1, "attempts": 1, "podName": "run-1", "podUID": "pod-run-1",
    "threadId": "uid-run", "startTime": "2026-01-01T12:00:00Z", "epochTime": "2026-01-01T12:00:00Z",
}  # fmt: skip
RUNNING: Json = PROVISIONING | {"phase": "Running", "runningTime": "2026-01-01T12:00:00Z"}


def see(run: AgentRun | None, *pods: PodView, **more: Any) -> ObservedRun:
    """A world in which everything is there and was read live."""
    basis: Json = {
        "profile": Found(a_profile()), "sandbox_class": Found(a_class()), "admission": Admitted(),
        "profile_policy": Missing(), "live": True,
    }  # fmt: skip
    return ObservedRun(NS, "run", run, pods, **(basis | more))


def status_of(plan: Plan) -> Json:
    assert plan.actions == ()
    assert plan.status is not None
    return plan.status


def report(outcome: str, epoch: int = 1, uid: str = "pod-run-1", **more: Any) -> Json:
    return {"epoch": epoch, "podUID": uid, "outcome": {"class": outcome, **more}}
