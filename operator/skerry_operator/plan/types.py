"""What planners see and what they answer. No I/O types: parsed API models, a view of Pods, fetched texts.

How the shell uses a plan (one pass of a key; bounded in rounds):
1. gather, plan. `needs_live`: gather again with live reads (run or Sandbox, and its Pods), plan again.
2. `actions` not empty: do them in order, let responses enter the cache, go to 1. **Actions come before the
   status**: the status of the plan that acted is not written, the next plan sees what became of it. A decision
   that must stand on the object first comes as a plan with a status and without actions.
3. `status` not None: one server-side apply of exactly this set at the resourceVersion planned on, then the
   events; go to 1. (`grant` set: mint, put the token at status.sandbox.grant before the apply.)
4. else sleep until `wake_at`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.phases import QueueReason
from skerry_api.sandbox import Sandbox
from skerry_api.sandboxclass import SandboxClass
from skerry_operator.plan.actions import Action, Refusal
from skerry_operator.plan.events import EventRecord
from skerry_operator.plan.lookup import UNKNOWN, Broken, Lookup
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.volumeview import VolumeView

__all__ = [
    "AdmissionPlan", "Admitted", "Decision", "GrantRequest", "IdleAnswer", "ObservedQueue", "ObservedRun",
    "ObservedSandbox", "ObservedVolumes", "Plan", "QueueEntry", "TextRef", "Waits",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class TextRef:
    """A key of a ConfigMap in the run's namespace. `mounted`: it may be binary, and whether it is there is all that matters."""

    name: str
    key: str
    mounted: bool = False


@dataclass(frozen=True, slots=True)
class Admitted:
    """The run may start."""


@dataclass(frozen=True, slots=True)
class Waits:
    """The run stays in the queue. `position` counts from 1 and is exact; planners bucket it."""

    position: int
    reason: QueueReason
    message: str


Decision = Admitted | Waits


@dataclass(frozen=True, slots=True)
class ObservedRun:
    """The world of one run key (namespace, name). `run` None: it is gone; then only `pods` matter.

    `pods`: every Pod of the namespace that is labelled component=runner and either named like this run's
    (label run=<name>) or labelled with its UID, whoever owns it, terminating ones too.
    """

    namespace: str
    name: str
    run: AgentRun | None
    pods: tuple[PodView, ...] = ()
    prepared: bool = True
    """The namespace stands in runNamespaces."""
    profile: Lookup[AgentProfile] = UNKNOWN
    sandbox_class: Lookup[SandboxClass] = UNKNOWN
    """The class that `resolve.class_name(run, profile)` names."""
    texts: Mapping[TextRef, Lookup[str]] = field(default_factory=dict)
    """An answer for each of `resolve.texts_wanted(run, profile, admission, has_pod=…)`."""
    profile_policy: Lookup[str] = UNKNOWN
    """Value of the template-hash annotation of the profile's NetworkPolicy (may be "")."""
    volume: Lookup[VolumeView] = UNKNOWN
    """The volume of the run's thread; asked for in a live look at a run without a Pod, whose profile wants one."""
    sandbox: Sandbox | None = None
    """The Sandbox named `resolve.sandbox_name(run)`, whoever made it."""
    sandbox_broken: Broken | None = None
    """There is such a Sandbox, and our models can't read it; `sandbox` is None then."""
    admission: Decision | None = None
    """What `plan_admission` last said; None: not yet."""
    refusal: Refusal | None = None
    sandbox_refusal: Refusal | None = None
    """Why its sandbox can't be made."""
    """The API server's no to an action of this very pass."""
    status_written: datetime | None = None
    """When this process last wrote the run's status."""
    gone_at: datetime | None = None
    """With `run` None: when this process saw it go; None: before its time."""
    live: bool = False
    """run, pods and (while no Pod exists) profile were read from the API server in this pass: a cached profile may be
    older than the run that relies on it."""


@dataclass(frozen=True, slots=True)
class IdleAnswer:
    """What sandboxd said. `idle_seconds` None: it could not be asked (unknown, not dead)."""

    pod_uid: str
    at: datetime
    idle_seconds: float | None


@dataclass(frozen=True, slots=True)
class ObservedSandbox:
    """The world of one sandbox key (namespace, sandbox name). `sandbox` None: there is no such object."""

    namespace: str
    name: str
    sandbox: Sandbox | None
    runs: tuple[AgentRun, ...] = ()
    """Every AgentRun of the namespace whose `resolve.sandbox_name` is this name, ended ones too."""
    pods: tuple[PodView, ...] = ()
    """The Pod of this name, and those labelled component=sandbox, sandbox=<name>; terminating ones too."""
    prepared: bool = True
    classes: Mapping[str, Lookup[SandboxClass]] = field(default_factory=dict)
    """By name, each of `resolve.class_names(sandbox, runs, profiles)`."""
    class_policies: Mapping[str, Lookup[str]] = field(default_factory=dict)
    """By class name: value of the template-hash annotation of the class's NetworkPolicy (may be "")."""
    profiles: Mapping[str, Lookup[AgentProfile]] = field(default_factory=dict)
    """By name, those of the runs that are not over."""
    probe: IdleAnswer | None = None
    """The last answer that this process has, of this pass or an earlier one."""
    refusal: Refusal | None = None
    gone_at: datetime | None = None
    """With `sandbox` None: when this process saw it go; None: before its time, or never."""
    live: bool = False
    """sandbox, runs that hold it and pods were read from the API server in this pass."""


@dataclass(frozen=True, slots=True)
class ObservedVolumes:
    """The world of one namespace's volumes key. `runs`: of each volume's thread by the volume's name, ended ones too."""

    namespace: str
    volumes: tuple[VolumeView, ...] = ()
    runs: Mapping[str, tuple[AgentRun, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """One run that is not over, with what admission must know of it (all from the cache)."""

    run: AgentRun
    profile: Lookup[AgentProfile]
    has_pod: bool = False
    """A runner Pod with its UID exists."""


@dataclass(frozen=True, slots=True)
class ObservedQueue:
    """The world of one namespace's admission key. Ended runs may be left out."""

    namespace: str
    entries: tuple[QueueEntry, ...]
    sandboxes: Mapping[str, Sandbox] = field(default_factory=dict)
    """By name."""
    classes: Mapping[str, Lookup[SandboxClass]] = field(default_factory=dict)
    """By name, those that the entries resolve to."""
    admitted: frozenset[str] = frozenset()
    """UIDs that this process has admitted: `AdmissionPlan.admitted` of the last plan, so that a run whose Pod
    is being made is not overtaken."""
    prepared: bool = True


@dataclass(frozen=True, slots=True)
class AdmissionPlan:
    """A decision for each run that takes part; runs that wait for something else have none."""

    decisions: Mapping[str, Decision]
    """By run UID."""
    admitted: frozenset[str]
    """Hand this back as `ObservedQueue.admitted` next time (kept in memory only: it is derived anew)."""


@dataclass(frozen=True, slots=True)
class GrantRequest:
    """The grant that the status must carry; the shell signs it. Absent where the present one still fits."""

    namespace: str
    sandbox_id: str
    pod_uid: str
    run_uid: str
    run_name: str
    epoch: int
    public_key: str
    """The runner's Ed25519 key, base64url without padding."""
    expires: datetime


@dataclass(frozen=True, slots=True)
class Plan:
    """See the module's docstring for the order in which the parts are used."""

    actions: tuple[Action, ...] = ()
    status: dict[str, Any] | None = None
    """The whole set of operator-owned status fields as JSON; None: nothing to write."""
    events: tuple[EventRecord, ...] = ()
    wake_at: datetime | None = None
    needs_live: bool = False
    grant: GrantRequest | None = None
