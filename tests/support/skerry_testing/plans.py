"""Objects for tests of the planners: short builders with sensible defaults, and one fixed moment."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.base import format_time
from skerry_api.labels import Label
from skerry_api.sandbox import Sandbox
from skerry_api.sandboxclass import SandboxClass
from skerry_operator.plan.podview import NodeState, PodView, read_pod
from skerry_operator.settings import PlanSettings

__all__ = [
    "NOW", "NS", "SETTINGS", "a_class", "a_pod", "a_profile", "a_run", "a_sandbox", "after", "conditions", "running", "terminated",
]  # fmt: skip

Json = dict[str, Any]
NS = "team"
NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
SETTINGS = PlanSettings(runner_image="runner:1", sandbox_image="sandbox:1", cluster_cidrs=("198.18.0.0/16",))
running: Json = {"running": {"startedAt": format_time(NOW)}}


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def _meta(name: str, uid: str, created: datetime, **more: Any) -> Json:
    return {
        "name": name, "namespace": NS, "uid": uid, "resourceVersion": "1", "generation": 1,
        "creationTimestamp": format_time(created), **more,
    }  # fmt: skip


def a_run(
    name: str = "run", *, uid: str = "", status: Json | None = None, created: datetime = NOW, meta: Json | None = None, **spec: Any
) -> AgentRun:  # fmt: skip
    """`spec` in camelCase, laid over a run with a prompt and the profile `coder`."""
    return AgentRun.read(
        {
            "apiVersion": "skerry.dev/v1alpha1", "kind": "AgentRun",
            "metadata": _meta(name, uid or f"uid-{name}", created, **(meta or {})),
            "spec": {"profileRef": {"name": "coder"}, "prompt": "do it", **spec},
            "status": status or {},
        }
    )  # fmt: skip


def a_profile(name: str = "coder", **spec: Any) -> AgentProfile:
    return AgentProfile.read(
        {
            "apiVersion": "skerry.dev/v1alpha1", "kind": "AgentProfile",
            "metadata": _meta(name, f"uid-{name}", NOW),
            "spec": {"model": {"name": "scripted", "script": "steps: []"}, **spec},
        }
    )  # fmt: skip


def a_class(name: str = "default", **spec: Any) -> SandboxClass:
    return SandboxClass.read(
        {
            "apiVersion": "skerry.dev/v1alpha1", "kind": "SandboxClass",
            "metadata": _meta(name, f"uid-{name}", NOW), "spec": spec,
        }
    )  # fmt: skip


def a_sandbox(
    name: str = "sbx", *, made: bool = True, status: Json | None = None, created: datetime = NOW, meta: Json | None = None, **spec: Any
) -> Sandbox:  # fmt: skip
    labels = {Label.OPERATOR_MADE.value: "true"} if made else {}
    return Sandbox.read(
        {
            "apiVersion": "skerry.dev/v1alpha1", "kind": "Sandbox",
            "metadata": _meta(name, f"uid-{name}", created, labels=labels, **(meta or {})),
            "spec": {"classRef": {"name": "default"}, "threadId": "t", **spec},
            "status": status or {},
        }
    )  # fmt: skip


def a_pod(
    name: str = "run-1",
    *,
    uid: str = "",
    owner: str = "uid-run",
    epoch: int = 1,
    phase: str = "Running",
    state: Json | None = None,
    conditions: list[Json] | None = None,
    deleted: datetime | None = None,
    node_state: NodeState = NodeState.PRESENT,
    ours: bool = True,
    created: datetime = NOW,
    **status: Any,
) -> PodView:
    """A Pod as the API server gives it, through `read_pod`."""
    labels = {Label.EPOCH.value: str(epoch)} | ({Label.MANAGED_BY.value: "skerry"} if ours else {})
    raw: Json = {
        "metadata": _meta(name, uid or f"pod-{name}", created, labels=labels)
        | ({"ownerReferences": [{"uid": owner, "controller": True}]} if owner else {})
        | ({"deletionTimestamp": format_time(deleted)} if deleted else {}),
        "spec": {"nodeName": "node-1"},
        "status": {
            "phase": phase, "podIP": "10.1.1.1", "conditions": conditions or [],
            "containerStatuses": [{"state": state or {}}], **status,
        },
    }  # fmt: skip
    return read_pod(raw, node_state)


def terminated(code: int, reason: str = "Error", message: str = "") -> Json:
    return {"terminated": {"exitCode": code, "reason": reason, "message": message}}


def conditions(status: Json) -> dict[str, tuple[str, str]]:
    """type → (status, reason) of a status as planned."""
    return {each["type"]: (each["status"], each["reason"]) for each in status["conditions"]}
