"""What planners see of a Pod: a few facts, read once from the raw object."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from skerry_api.labels import Label

__all__ = ["ContainerView", "NodeState", "PodCondition", "PodView", "Terminated", "Waiting", "read_pod"]


class NodeState(StrEnum):
    """The Node of a Pod as the operator knows it; only the last two allow a forced delete."""

    PRESENT = "Present"
    UNKNOWN = "Unknown"
    GONE = "Gone"
    OUT_OF_SERVICE = "OutOfService"


@dataclass(frozen=True, slots=True)
class PodCondition:
    type: str
    status: str
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Waiting:
    reason: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Terminated:
    exit_code: int
    reason: str = ""
    message: str = ""
    """The termination message of the container, as the kubelet kept it (≤4096 bytes)."""
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ContainerView:
    """State of the Pod's one container; exactly one of the three is set once the kubelet has reported."""

    waiting: Waiting | None = None
    running: bool = False
    terminated: Terminated | None = None


@dataclass(frozen=True, slots=True)
class PodView:
    name: str
    namespace: str
    uid: str
    owner_uid: str = ""
    """UID of the controller ownerReference; empty without one."""
    labels: dict[str, str] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    created: datetime | None = None
    deletion_timestamp: datetime | None = None
    """As the API server sets it: when the grace period ends, not when the delete was asked."""
    phase: str = ""
    reason: str = ""
    message: str = ""
    conditions: tuple[PodCondition, ...] = ()
    container: ContainerView = ContainerView()
    pod_ip: str = ""
    node: str = ""
    node_state: NodeState = NodeState.UNKNOWN

    @property
    def terminating(self) -> bool:
        return self.deletion_timestamp is not None

    @property
    def finished(self) -> bool:
        """No container of it runs any more, by its own phase."""
        return self.phase in {"Succeeded", "Failed"}

    @property
    def ready(self) -> bool:
        """The Ready condition holds and the Pod is not on its way out."""
        found = self.condition("Ready")
        return found is not None and found.status == "True" and not self.terminating and not self.finished

    @property
    def ours(self) -> bool:
        """Made by Skerry, by its label."""
        return self.labels.get(Label.MANAGED_BY) == "skerry"

    @property
    def epoch(self) -> int:
        """Epoch of a runner Pod; 0 where the label is absent or no number."""
        text = self.labels.get(Label.EPOCH, "")
        return int(text) if text.isascii() and text.isdigit() else 0

    def condition(self, kind: str) -> PodCondition | None:
        return next((each for each in self.conditions if each.type == kind), None)

    @property
    def disruption(self) -> PodCondition | None:
        """The DisruptionTarget condition where it holds: somebody took the Pod away for the cluster's sake."""
        found = self.condition("DisruptionTarget")
        return found if found is not None and found.status == "True" else None


def read_pod(raw: dict[str, Any], node_state: NodeState = NodeState.UNKNOWN) -> PodView:
    """Read a v1 Pod as JSON; anything that is absent reads as empty. `raw` is not kept."""
    meta: dict[str, Any] = raw.get("metadata") or {}
    status: dict[str, Any] = raw.get("status") or {}
    owners = meta.get("ownerReferences") or []
    states = status.get("containerStatuses") or [{}]
    return PodView(
        name=meta.get("name", ""),
        namespace=meta.get("namespace", ""),
        uid=meta.get("uid", ""),
        owner_uid=next((owner["uid"] for owner in owners if owner.get("controller")), ""),
        labels=dict(meta.get("labels") or {}),
        # The run document is large and of no use to a planner.
        annotations={k: v for k, v in (meta.get("annotations") or {}).items() if len(v) <= 256},
        created=_time(meta.get("creationTimestamp")),
        deletion_timestamp=_time(meta.get("deletionTimestamp")),
        phase=status.get("phase", ""),
        reason=status.get("reason", ""),
        message=status.get("message", ""),
        conditions=tuple(
            PodCondition(
                each.get("type", ""), each.get("status", ""), each.get("reason", ""), each.get("message", "")
            )
            for each in status.get("conditions") or []
        ),
        container=_container(states[0].get("state") or {}),
        pod_ip=status.get("podIP", ""),
        node=(raw.get("spec") or {}).get("nodeName", ""),
        node_state=node_state,
    )


def _container(state: dict[str, Any]) -> ContainerView:
    waiting, terminated = state.get("waiting"), state.get("terminated")
    return ContainerView(
        waiting=Waiting(waiting.get("reason", ""), waiting.get("message", "")) if waiting else None,
        running="running" in state,
        terminated=Terminated(
            terminated.get("exitCode", 0),
            terminated.get("reason", ""),
            terminated.get("message", ""),
            _time(terminated.get("finishedAt")),
        )
        if terminated
        else None,
    )


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
