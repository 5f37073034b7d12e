"""Raw objects to what is kept of them: parsed, and without what only costs memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.base import KubeObject
from skerry_api.phases import TERMINAL
from skerry_api.sandbox import Sandbox
from skerry_api.sandboxclass import SandboxClass
from skerry_operator.kube.kinds import CLASS, POD, PROFILE, RUN, SANDBOX, Kind, Raw
from skerry_operator.plan.podview import PodView, read_pod

__all__ = ["Cached", "Unreadable", "parse"]

_ANNOTATION_MAX = 256
_MODELS: Mapping[Kind, type[KubeObject]] = {
    RUN: AgentRun,
    SANDBOX: Sandbox,
    CLASS: SandboxClass,
    PROFILE: AgentProfile,
}


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An object that our models refuse, though the API server took it: other versions of CRD and operator."""

    kind: Kind
    namespace: str
    name: str
    uid: str
    resource_version: str
    generation: int
    path: str
    problem: str
    started: bool
    """An epoch stands in its status: a run that may be alive."""
    status: Raw = field(default_factory=dict)
    """A Sandbox's as it stands: what an apply of its status must not drop."""


Cached = AgentRun | Sandbox | SandboxClass | AgentProfile | PodView | Unreadable


def parse(kind: Kind, raw: Raw) -> Cached:
    """What the cache keeps of an object; never raises for its content."""
    if kind is POD:
        return read_pod(dict(raw))
    try:
        return _MODELS[kind].read(_slim(kind, raw))  # type: ignore[return-value]  # the four models of Cached
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        metadata = raw["metadata"]
        return Unreadable(
            kind=kind,
            namespace=metadata.get("namespace", ""),
            name=metadata["name"],
            uid=metadata["uid"],
            resource_version=metadata["resourceVersion"],
            generation=metadata.get("generation", 0),
            path=".".join(str(part) for part in first["loc"]),
            problem=first["msg"],
            started=bool((raw.get("status") or {}).get("epoch")),
            status=(raw.get("status") or {}) if kind is SANDBOX else {},
        )


def _slim(kind: Kind, raw: Raw) -> dict[str, Any]:
    """Without long annotations (kubectl's copy of the spec); texts of ended runs go too: nobody reads them again."""
    slim = dict(raw)
    metadata = dict(raw["metadata"])
    metadata.pop("managedFields", None)
    if annotations := metadata.get("annotations"):
        metadata["annotations"] = {k: v for k, v in annotations.items() if len(v) <= _ANNOTATION_MAX}
    slim["metadata"] = metadata
    if kind is RUN and (raw.get("status") or {}).get("phase") in TERMINAL:
        spec = dict(raw["spec"])
        spec.pop("prompt", None)
        if model := spec.get("model"):
            spec["model"] = {k: v for k, v in model.items() if k != "script"}
        slim["spec"] = spec
    return slim
