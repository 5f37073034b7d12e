"""What a plan may ask the shell to do. Each is idempotent: names are derived, deletes carry the UID.

Results, as the shell must read them:
- a create that says AlreadyExists is a success only if the object's controller (for a Sandbox without one:
  the operator-made label) is the manifest's; else it is `Refusal(NAME_TAKEN)`;
- a delete of what is gone, or whose UID precondition fails, is a success;
- 403 and 422 are no errors but a `Refusal`, handed to the next plan of the same pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

__all__ = [
    "Action", "ApplyPolicy", "ApplyVolume", "CreatePod", "CreateSandbox", "DeletePod", "DeleteRun", "DeleteSandbox",
    "DeleteVolume", "ProbeIdle", "Refusal", "RefusalKind", "RelayReport",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class CreatePod:
    """POST this v1 Pod."""

    manifest: dict[str, Any]


@dataclass(frozen=True, slots=True)
class DeletePod:
    """DELETE with a UID precondition; `grace_seconds` None leaves the Pod's own, 0 forces it away."""

    namespace: str
    name: str
    uid: str
    grace_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class CreateSandbox:
    """POST this Sandbox."""

    manifest: dict[str, Any]


@dataclass(frozen=True, slots=True)
class DeleteSandbox:
    """DELETE with a UID precondition and background propagation (its Pod goes with it)."""

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class ApplyPolicy:
    """Server-side apply of this NetworkPolicy, forced: the operator owns it as a whole."""

    manifest: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ApplyVolume:
    """Server-side apply of this PersistentVolumeClaim, forced.

    One that exists is named by uid and resourceVersion, so that it is changed as it was seen or not at all.
    """

    manifest: dict[str, Any]


@dataclass(frozen=True, slots=True)
class DeleteVolume:
    """DELETE a PersistentVolumeClaim that is marked as expired, with a UID precondition."""

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class DeleteRun:
    """DELETE an AgentRun past its time to live, with a UID precondition and background propagation."""

    namespace: str
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class ProbeIdle:
    """Ask sandboxd how long nobody used it; the answer goes into `ObservedSandbox.probe` of the next plan."""

    namespace: str
    sandbox: str
    pod_uid: str
    endpoint: str


@dataclass(frozen=True, slots=True)
class RelayReport:
    """Apply on agentruns/status in the runner's name (field manager `skerry-runner`, forced).

    The runner ended without its last report; its termination message carries it, and it is laid into the fields
    that the runner owns. `status` is the runner's whole set: `sandboxId` and `runner`.
    """

    namespace: str
    name: str
    resource_version: str
    status: dict[str, Any]


Action = (
    RelayReport
    | CreatePod
    | DeletePod
    | CreateSandbox
    | DeleteSandbox
    | ApplyPolicy
    | ApplyVolume
    | DeleteVolume
    | DeleteRun
    | ProbeIdle
)


class RefusalKind(StrEnum):
    FORBIDDEN = "Forbidden"
    """403: Pod Security, quota, an admission webhook."""
    INVALID = "Invalid"
    """422: the object itself is wrong."""
    NAME_TAKEN = "NameTaken"
    """409 on create, and the one that exists is not ours."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """The API server's no to the last action of this pass, in its own words."""

    kind: RefusalKind
    message: str
