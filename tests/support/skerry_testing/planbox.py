"""Observations of a Sandbox for tests of plan_sandbox's rules."""

from __future__ import annotations

from typing import Any

from skerry_api.agentrun import AgentRun
from skerry_api.sandbox import Sandbox
from skerry_operator.plan.actions import ApplyPolicy
from skerry_operator.plan.lookup import Found, Missing
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.sandbox import plan_sandbox
from skerry_operator.plan.types import ObservedSandbox, Plan
from skerry_testing.plans import NOW, NS, SETTINGS, a_class, a_pod, a_profile, a_run, a_sandbox, running

__all__ = [
    "ASKED",
    "HOLDER",
    "OVER",
    "PARKED",
    "PENDING",
    "READY",
    "asking",
    "held",
    "pod",
    "see",
    "status_of",
]

Json = dict[str, Any]
READY_CONDITION: list[Json] = [{"type": "Ready", "status": "True"}]
ASKED: Json = {
    "phase": "Running", "epoch": 1, "podUID": "pod-run-1",
    "runner": {"epoch": 1, "podUID": "pod-run-1", "sandboxRequest": {"epoch": 1, "publicKey": "x"}},
}  # fmt: skip
HOLDER: Json = {"uid": "uid-run", "name": "run", "since": "2026-01-01T12:00:00Z"}
PENDING: Json = {
    "observedGeneration": 1,
    "phase": "Pending",
    "podName": "sbx",
    "podUID": "pod-sbx",
    "holder": HOLDER,
}
READY: Json = PENDING | {"phase": "Ready", "endpoint": "http://10.1.1.1:8090"}
PARKED: Json = {
    "phase": "Parked", "podName": "sbx", "podUID": "pod-sbx", "endpoint": "http://10.1.1.1:8090", "idleSince": "2026-01-01T12:00:00Z",
}  # fmt: skip


def asking(name: str = "run", **spec: Any) -> AgentRun:
    return a_run(name, **{"threadId": "t", "status": ASKED, **spec})


def see(
    sandbox: Sandbox | None, *pods: PodView, runs: tuple[AgentRun, ...] = (), **more: Any
) -> ObservedSandbox:
    basis: Json = {
        "classes": {"default": Found(a_class())}, "class_policies": {"default": Missing()},
        "profiles": {"coder": Found(a_profile())}, "live": True,
    }  # fmt: skip
    return ObservedSandbox(NS, "sbx", sandbox, runs, pods, **(basis | more))


def settled(observed: ObservedSandbox) -> dict[str, Found[str]]:
    """The class's policy as the operator applies it."""
    plan = plan_sandbox(observed, NOW, SETTINGS)
    policy = next(each for each in plan.actions if isinstance(each, ApplyPolicy))
    return {"default": Found(policy.manifest["metadata"]["annotations"]["skerry.dev/template-hash"])}


POLICY = settled(see(a_sandbox(), runs=(asking(),)))


def pod(**more: Any) -> PodView:
    return a_pod("sbx", **{"owner": "uid-sbx", "state": running, "conditions": READY_CONDITION, **more})


def held(sandbox: Sandbox, *pods: PodView, **more: Any) -> ObservedSandbox:
    return see(sandbox, *pods, **{"runs": (asking(),), "class_policies": POLICY, **more})


def status_of(plan: Plan) -> Json:
    assert plan.actions == ()
    assert plan.status is not None
    return plan.status


OVER = asking(status=ASKED | {"phase": "Succeeded"})
