"""What follows from an observation of a Sandbox before any rule is asked: its Pod, who holds it, its class."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from skerry_api.agentrun import AgentRun
from skerry_api.labels import Label
from skerry_api.sandbox import Holder, Sandbox, SandboxStatus
from skerry_api.sandboxclass import Release, SandboxClass
from skerry_operator.plan.lookup import UNKNOWN, Found, Lookup
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.resolve import class_name, own_thread
from skerry_operator.plan.runsandbox import asks, comes_back, used
from skerry_operator.plan.types import ObservedSandbox
from skerry_operator.settings import PlanSettings

__all__ = ["BoxFacts", "oldest", "operator_made", "read_box"]

DEFAULT_IDLE = timedelta(seconds=600)
"""Where the class is gone."""
LIFETIME = timedelta(days=7)
"""Of a sandbox whose class and own spec name none."""


@dataclass(frozen=True, slots=True)
class BoxFacts:
    observed: ObservedSandbox
    sandbox: Sandbox
    now: datetime
    settings: PlanSettings
    pod: PodView | None
    """The Pod that this very Sandbox owns."""
    others: tuple[PodView, ...]
    """Pods of the name that a former Sandbox left behind."""
    claimant: AgentRun | None
    """The live run that is to have it."""
    kind: Lookup[SandboxClass]

    @property
    def status(self) -> SandboxStatus:
        return self.sandbox.status

    @property
    def holds_on(self) -> bool:
        """The claimant is the one that the status already names."""
        holder = self.status.holder
        return self.claimant is not None and holder is not None and holder.uid == self.claimant.metadata.uid

    @property
    def holder(self) -> Holder | None:
        if self.claimant is None:
            return None
        if self.holds_on:
            return self.status.holder
        meta = self.claimant.metadata
        return Holder(uid=meta.uid, name=meta.name, since=self.now)

    @property
    def known_pod(self) -> str | None:
        """UID of the Pod that the claimant had last: as this object says, or the run where a former object went."""
        if self.holds_on and self.status.pod_uid is not None:
            return self.status.pod_uid
        use = used(self.claimant)
        return use.pod_uid if use else None

    @property
    def replaced(self) -> bool:
        """The Pod is another one than its holder had."""
        return self.known_pod is not None and self.pod is not None and self.pod.uid != self.known_pod

    @property
    def replacements(self) -> int:
        use = used(self.claimant)
        kept = self.status.replacements if self.holds_on else use.replacements if use else None
        return (kept or 0) + (1 if self.replaced else 0)

    @property
    def release(self) -> Release:
        """What release means here: a run that is its own thread leaves nothing that anybody could use.

        Of a run that only waits for an answer it is kept in any case.
        """
        if any(comes_back(run) for run in self.observed.runs):
            return Release.PARK
        if _own_thread(self.sandbox, self.observed.runs):
            return Release.DESTROY
        return self.kind.value.spec.release if isinstance(self.kind, Found) else Release.PARK

    @property
    def idle(self) -> timedelta:
        own = self.sandbox.spec.idle_seconds
        if own is not None:
            return timedelta(seconds=own)
        return (
            timedelta(seconds=self.kind.value.spec.idle_seconds)
            if isinstance(self.kind, Found)
            else DEFAULT_IDLE
        )

    @property
    def life_ends(self) -> datetime | None:
        """When it is too old to be kept for nobody: idle times are its sandboxd's word, which may lie."""
        most = self.sandbox.spec.max_lifetime_seconds
        if most is None and isinstance(self.kind, Found):
            most = self.kind.value.spec.max_lifetime_seconds
        made = self.sandbox.metadata.creation_timestamp
        if made is None:
            return None
        return made + (max(LIFETIME, 2 * self.idle) if most is None else timedelta(seconds=most))

    @property
    def start_limit(self) -> datetime:
        """When a sandbox that is still not Ready has failed; one that was parked has its time again."""
        holder, made = self.holder, self.sandbox.metadata.creation_timestamp
        begins = [self.pod.created if self.pod else made, holder.since if holder else None]
        begin = max((each for each in begins if each is not None), default=self.now)
        return begin + self.settings.sandbox_startup


def operator_made(sandbox: Sandbox) -> bool:
    return sandbox.metadata.labels.get(Label.OPERATOR_MADE) == "true"


def oldest(runs: Iterable[AgentRun]) -> AgentRun | None:
    return min(runs, key=lambda run: (str(run.metadata.creation_timestamp), run.metadata.uid), default=None)


def read_box(observed: ObservedSandbox, sandbox: Sandbox, now: datetime, settings: PlanSettings) -> BoxFacts:
    uid = sandbox.metadata.uid
    mine = [pod for pod in observed.pods if pod.owner_uid == uid and pod.name == sandbox.metadata.name]
    return BoxFacts(
        observed=observed,
        sandbox=sandbox,
        now=now,
        settings=settings,
        pod=mine[0] if mine else None,
        others=tuple(pod for pod in observed.pods if pod.owner_uid != uid and pod.owner_uid and pod.ours),
        claimant=_claimant(observed, sandbox) if operator_made(sandbox) else None,
        kind=observed.classes.get(sandbox.spec.class_ref.name, UNKNOWN),
    )


def _claimant(observed: ObservedSandbox, sandbox: Sandbox) -> AgentRun | None:
    asking = [run for run in observed.runs if asks(run)]
    holder = sandbox.status.holder
    for run in asking:
        if holder is not None and run.metadata.uid == holder.uid:
            return run
    return oldest(run for run in asking if _fits_class(observed, sandbox, run))


def _fits_class(observed: ObservedSandbox, sandbox: Sandbox, run: AgentRun) -> bool:
    # A run of another class has to wait until this sandbox has ended, so it must not keep it alive.
    profile = observed.profiles.get(run.spec.profile_ref.name)
    return not isinstance(profile, Found) or class_name(run, profile.value) == sandbox.spec.class_ref.name


def _own_thread(sandbox: Sandbox, runs: Iterable[AgentRun]) -> bool:
    thread, holder = sandbox.spec.thread_id, sandbox.status.holder
    if (holder is not None and holder.uid == thread) or any(
        owner.kind == AgentRun.KIND and owner.uid == thread for owner in sandbox.metadata.owner_references
    ):
        return True
    return any(run.metadata.uid == thread and own_thread(run) for run in runs)
