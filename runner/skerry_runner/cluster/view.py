"""The own run as the runner needs to see it, and what that says about going on. Pure.

Only the fields that matter are read, each leniently: an operator newer than this runner may write more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from pydantic import ValidationError

from skerry_api.agentrun import SandboxUse
from skerry_api.phases import TERMINAL
from skerry_api.report import Progress, RunArtifact
from skerry_runner.cluster.environment import Identity

__all__ = ["RunView", "Verdict", "deleted", "names_us", "unknown", "verdict", "view_of"]

_TERMINAL = frozenset(phase.value for phase in TERMINAL)


class Verdict(StrEnum):
    """What the run's state means for its runner."""

    GO_ON = "GoOn"
    CANCEL = "Cancel"
    """End as Cancelled, and report it."""
    FENCED = "Fenced"
    """The run is no longer ours: end without a report."""


@dataclass(frozen=True, slots=True)
class RunView:
    """What the runner reads of its run."""

    uid: str
    resource_version: str
    known: bool = True
    exists: bool = True
    deleting: bool = False
    cancel: bool = False
    phase: str = ""
    epoch: int = 0
    pod_uid: str = ""
    sandbox: SandboxUse | None = None
    sandbox_id: str | None = None
    artifacts: tuple[RunArtifact, ...] | None = None
    """What an earlier epoch presented, or this one."""
    progress: Progress | None = None
    """The same of what was done."""
    spec: Mapping[str, Any] = field(default_factory=dict)
    """As the API server gives it."""

    def answer_to(self, question: str) -> str | None:
        """What spec.answers says to a question."""
        for each in self.spec.get("answers") or ():
            if isinstance(each, Mapping) and each.get("questionId") == question:
                text = each.get("text")
                return text if isinstance(text, str) else None
        return None


def _sandbox(raw: Any) -> SandboxUse | None:
    try:
        return SandboxUse.model_validate(raw)
    except ValidationError:
        return None


def _artifacts(raw: Iterable[Any]) -> tuple[RunArtifact, ...] | None:
    found = []
    for each in raw:
        try:
            found.append(RunArtifact.model_validate(each))
        except ValidationError:
            continue
    return tuple(found) or None


def _progress(raw: Any) -> Progress | None:
    try:
        return None if raw is None else Progress.model_validate(raw)
    except ValidationError:
        return None


def view_of(raw: dict[str, Any]) -> RunView:
    """Read an AgentRun as the API server gives it."""
    meta, spec, status = raw.get("metadata") or {}, raw.get("spec") or {}, raw.get("status") or {}
    return RunView(
        uid=meta.get("uid", ""),
        resource_version=meta.get("resourceVersion", ""),
        deleting="deletionTimestamp" in meta,
        cancel=bool(spec.get("cancel") or status.get("cancelled")),
        phase=status.get("phase", ""),
        epoch=status.get("epoch", 0),
        pod_uid=status.get("podUID", ""),
        sandbox=_sandbox(status["sandbox"]) if "sandbox" in status else None,
        sandbox_id=status.get("sandboxId"),
        artifacts=_artifacts((status.get("runner") or {}).get("artifacts") or ()),
        progress=_progress((status.get("runner") or {}).get("progress")),
        spec=spec,
    )


def unknown() -> RunView:
    """The view of a run that nobody could read yet."""
    return RunView(uid="", resource_version="", known=False)


def deleted(resource_version: str = "") -> RunView:
    """The view of a run that is gone."""
    return RunView(uid="", resource_version=resource_version, exists=False)


def names_us(view: RunView, identity: Identity) -> bool:
    """Whether status says that this Pod runs the current epoch."""
    return view.epoch == identity.epoch and view.pod_uid == identity.pod_uid


def verdict(view: RunView, identity: Identity, run_uid: str) -> Verdict:
    """Go on, cancel, or leave the run alone. A status that lags behind (an older epoch) fences nobody."""
    if not view.known:
        return Verdict.GO_ON
    others_pod = view.epoch == identity.epoch and view.pod_uid not in {"", identity.pod_uid}
    if not view.exists or view.uid != run_uid or view.epoch > identity.epoch or others_pod:
        return Verdict.FENCED
    if view.phase in _TERMINAL:
        return Verdict.FENCED
    return Verdict.CANCEL if view.cancel or view.deleting else Verdict.GO_ON
