"""Objects in memory as plans change them, and a kubelet, runners and people that do as a test says.

It checks, at every change, what must never happen.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from skerry_api.base import format_time
from skerry_api.keys import SigningKey
from skerry_api.labels import Label
from skerry_api.phases import TERMINAL
from skerry_operator.plan.actions import (
    Action,
    ApplyPolicy,
    ApplyVolume,
    CreatePod,
    CreateSandbox,
    DeletePod,
    DeleteRun,
    DeleteSandbox,
    DeleteVolume,
    ProbeIdle,
    Refusal,
    RefusalKind,
    RelayReport,
)
from skerry_operator.plan.podview import NodeState, read_pod
from skerry_operator.plan.types import (
    Decision,
    IdleAnswer,
)
from skerry_testing.plans import NOW, NS, a_class, a_profile

__all__ = ["PlanCluster"]

Json = dict[str, Any]
KEY = SigningKey.generate()
MAX_ROUNDS = 12


@dataclass
class PlanCluster:
    now: datetime = NOW
    runs: dict[str, Json] = field(default_factory=dict)
    sandboxes: dict[str, Json] = field(default_factory=dict)
    pods: dict[str, Json] = field(default_factory=dict)
    policies: dict[str, str] = field(default_factory=dict)
    profiles: dict[str, Any] = field(default_factory=lambda: {"coder": a_profile(allowedClasses=["gpu"])})
    classes: dict[str, Any] = field(
        default_factory=lambda: {"default": a_class(), "gpu": a_class("gpu", release="Destroy")}
    )
    nodes: dict[str, NodeState] = field(default_factory=dict)
    """By Pod name; Present unless said otherwise."""
    idle: float | None = None
    """What sandboxd answers: seconds since its last use; None: it can't be asked."""
    cap: int = 50
    probes: dict[str, IdleAnswer] = field(default_factory=dict)
    written: dict[str, datetime] = field(default_factory=dict)
    admitted: frozenset[str] = frozenset()
    decisions: dict[str, Decision] = field(default_factory=dict)
    writes: Counter[str] = field(default_factory=Counter)
    events: list[str] = field(default_factory=list)
    mints: int = 0
    serial: int = 0

    # What people, kubelets and runners do

    def create_run(self, name: str, **spec: Any) -> Json:
        self.runs[name] = self._object(
            "AgentRun", name, {"profileRef": {"name": "coder"}, "prompt": "go", **spec}
        )
        return self.runs[name]

    def pass_time(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def start_pod(self, name: str) -> None:
        """The container runs and is ready."""
        if name in self.pods and not self.pods[name]["status"].get("containerStatuses"):
            self.pods[name]["status"] |= {
                "phase": "Running", "podIP": "10.1.1.1", "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [{"state": {"running": {}}}],
            }  # fmt: skip

    def end_pod(
        self, name: str, code: int = 0, reason: str = "Error", message: str = "", **status: Any
    ) -> None:
        """The container ends and stays ended."""
        if name in self.pods and self.pods[name]["status"]["phase"] in {"Pending", "Running"}:
            state = {"terminated": {"exitCode": code, "reason": reason, "message": message}}
            self.pods[name]["status"] |= {
                "phase": "Succeeded" if code == 0 else "Failed", "conditions": [], "containerStatuses": [{"state": state}], **status,
            }  # fmt: skip

    def take_pod(self, name: str) -> None:
        """Somebody deletes it: it terminates until `finish_deletes`."""
        if name in self.pods:
            self.pods[name]["metadata"].setdefault(
                "deletionTimestamp", format_time(self.now + timedelta(seconds=30))
            )

    def finish_deletes(self) -> None:
        self.pods = {
            name: pod for name, pod in self.pods.items() if "deletionTimestamp" not in pod["metadata"]
        }

    def report(self, name: str, **runner: Any) -> bool:
        """The current runner writes its fields; False where the admission policy would refuse it."""
        status = self.runs[name]["status"] if name in self.runs else {}
        pod = self.pods.get(status.get("podName", ""))
        if pod is None or pod["metadata"]["uid"] != status["podUID"] or pod["status"]["phase"] != "Running":
            return False
        epoch, before = int(pod["metadata"]["labels"][Label.EPOCH]), status.get("runner", {})
        kept = before if before.get("epoch") == epoch else {}
        status["runner"] = {**kept, "epoch": epoch, "podUID": status["podUID"], **runner}
        return True

    def ask_sandbox(self, name: str) -> bool:
        epoch = self.runs[name]["status"].get("epoch") if name in self.runs else None
        return epoch is not None and self.report(
            name, sandboxRequest={"epoch": epoch, "publicKey": KEY.public.text}
        )

    def delete_run(self, name: str, *, collect: bool = True) -> None:
        """`collect`: the garbage collector comes at once, for its Pods and its own sandbox."""
        gone = self.runs.pop(name, None)
        if gone and collect:
            self._collect(gone["metadata"]["uid"])

    # Inside

    def do(self, action: Action) -> Refusal | None:
        self.writes[type(action).__name__] += 1
        match action:
            case CreatePod(manifest):
                return self._create_pod(manifest)
            case DeletePod(_, name, uid, grace):
                self._delete_pod(name, uid, grace)
            case CreateSandbox(manifest):
                name = manifest["metadata"]["name"]
                assert name not in self.sandboxes
                made = self._object("Sandbox", name, manifest["spec"])
                made["metadata"] |= {
                    "labels": manifest["metadata"]["labels"],
                    "ownerReferences": manifest["metadata"].get("ownerReferences", []),
                }
                self.sandboxes[name] = made
            case DeleteSandbox(_, name, uid):
                assert self.sandboxes[name]["metadata"]["labels"].get(Label.OPERATOR_MADE) == "true"
                del self.sandboxes[name]
                self._collect(uid)
            case DeleteRun(_, name, uid):
                assert self.runs[name]["status"]["phase"] in TERMINAL
                del self.runs[name]
                self._collect(uid)
            case ApplyPolicy(manifest):
                self.policies[manifest["metadata"]["name"]] = manifest["metadata"]["annotations"][
                    "skerry.dev/template-hash"
                ]
            case ApplyVolume() | DeleteVolume():
                raise AssertionError("no profile of these worlds keeps a volume")
            case ProbeIdle(_, sandbox, pod_uid, _):
                self.writes["ProbeIdle"] -= 1  # a question, not a write
                self.probes[sandbox] = IdleAnswer(pod_uid, self.now, self.idle)
            case RelayReport(_, name, _, status):
                self.runs[name]["status"] |= status
        return None

    def _create_pod(self, manifest: Json) -> Refusal | None:
        name, labels = manifest["metadata"]["name"], manifest["metadata"]["labels"]
        if name in self.pods:
            return Refusal(RefusalKind.NAME_TAKEN, f"{name} exists")
        uid = manifest["metadata"]["ownerReferences"][0]["uid"]
        twins = [each for each, pod in self.pods.items() if read_pod(pod).owner_uid == uid]
        assert not twins, f"{name} is made while {twins} exist"
        self.serial += 1
        meta = {
            **manifest["metadata"],
            "uid": f"pod-{self.serial}",
            "creationTimestamp": format_time(self.now),
            "labels": labels,
        }
        self.pods[name] = {"metadata": meta, "spec": {"nodeName": "node-1"}, "status": {"phase": "Pending"}}
        self.nodes.pop(name, None)
        return None

    def _delete_pod(self, name: str, uid: str, grace: int | None) -> None:
        pod = self.pods.get(name)
        if pod is None or pod["metadata"]["uid"] != uid:
            return
        if grace == 0:
            assert self.nodes.get(name) in {NodeState.GONE, NodeState.OUT_OF_SERVICE}, (
                f"{name} forced away from a living Node"
            )
            del self.pods[name]
        elif pod["status"]["phase"] == "Running":
            self.take_pod(name)
        else:
            del self.pods[name]

    def _collect(self, uid: str) -> None:
        for name, pod in list(self.pods.items()):
            if read_pod(pod).owner_uid == uid:
                self._delete_pod(name, pod["metadata"]["uid"], None)
        for name, box in list(self.sandboxes.items()):
            if any(owner["uid"] == uid for owner in box["metadata"].get("ownerReferences", [])):
                del self.sandboxes[name]
                self._collect(box["metadata"]["uid"])

    def _object(self, kind: str, name: str, spec: Json) -> Json:
        self.serial += 1
        meta = {
            "name": name, "namespace": NS, "uid": f"uid-{self.serial}", "resourceVersion": "1", "generation": 1,
            "creationTimestamp": format_time(self.now), "labels": {},
        }  # fmt: skip
        return {
            "apiVersion": "skerry.dev/v1alpha1",
            "kind": kind,
            "metadata": meta,
            "spec": spec,
            "status": {},
        }
