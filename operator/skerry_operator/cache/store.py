"""The cache as a whole: takes news of objects, answers questions about them, tells which keys each change concerns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.labels import Component, Label
from skerry_api.phases import TERMINAL
from skerry_api.sandbox import Sandbox
from skerry_api.sandboxclass import SandboxClass
from skerry_operator.cache.parse import Cached, Unreadable, parse
from skerry_operator.cache.table import Entry, Table
from skerry_operator.kube.kinds import CLASS, POD, PROFILE, RUN, SANDBOX, Kind, Raw
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.resolve import sandbox_name

__all__ = ["WATCHED", "Change", "Store", "over"]

T = TypeVar("T")
WATCHED = (RUN, SANDBOX, CLASS, PROFILE, POD)


@dataclass(frozen=True, slots=True)
class Change:
    """One object's step: `old` None for a new one, `new` None for a deleted one."""

    kind: Kind
    namespace: str
    name: str
    old: Cached | None
    new: Cached | None


def over(run: AgentRun) -> bool:
    return run.status.phase in TERMINAL


class Store:
    """Not thread-safe: lives on the event loop. `listener` hears every change, once, after it was taken."""

    def __init__(self, listener: Callable[[Change], None] = lambda _change: None) -> None:
        self._tables: dict[Kind, Table[Cached]] = {kind: Table(_index) for kind in WATCHED}
        self._listener = listener

    def put(self, kind: Kind, raw: Raw) -> bool:
        """News of an object, from a watch, a read or a write's answer; False if it was no news."""
        metadata = raw["metadata"]
        namespace, name = metadata.get("namespace", ""), metadata["name"]
        version = int(metadata["resourceVersion"])
        table = self._tables[kind]
        known = table.get(namespace, name)
        if known is not None and version <= known.version:
            return False  # before parsing: most echoes end here
        entry = Entry(metadata["uid"], version, parse(kind, raw))
        if not table.put(namespace, name, entry):
            return False
        self._listener(Change(kind, namespace, name, known.value if known else None, entry.value))
        return True

    def drop(self, kind: Kind, namespace: str, name: str, version: int, now: datetime) -> bool:
        """The object was seen gone at that resourceVersion; False if nothing was known of it, or something newer."""
        known = self._tables[kind].drop(namespace, name, version, now)
        if known is None:
            return False
        self._listener(Change(kind, namespace, name, known.value, None))
        return True

    def version(self, kind: Kind, namespace: str, name: str) -> int | None:
        """The resourceVersion up to which the object is known."""
        known = self._tables[kind].get(namespace, name)
        return None if known is None else known.version

    def gone(self, kind: Kind, namespace: str, name: str, before: int | None, now: datetime) -> bool:
        """A request begun when `before` was known was answered 404; what came meanwhile may be newer and stays."""
        return before is not None and self.drop(kind, namespace, name, before, now)

    def table(self, kind: Kind) -> Table[Cached]:
        return self._tables[kind]

    def run(self, namespace: str, name: str) -> AgentRun | None:
        return self._one(RUN, namespace, name, AgentRun)

    def sandbox(self, namespace: str, name: str) -> Sandbox | None:
        return self._one(SANDBOX, namespace, name, Sandbox)

    def profile(self, namespace: str, name: str) -> AgentProfile | None:
        return self._one(PROFILE, namespace, name, AgentProfile)

    def sandbox_class(self, namespace: str, name: str) -> SandboxClass | None:
        return self._one(CLASS, namespace, name, SandboxClass)

    def pod(self, namespace: str, name: str) -> PodView | None:
        return self._one(POD, namespace, name, PodView)

    def unreadable(self, kind: Kind, namespace: str, name: str) -> Unreadable | None:
        return self._one(kind, namespace, name, Unreadable)

    def gone_at(self, kind: Kind, namespace: str, name: str) -> datetime | None:
        """When the object was seen to go, if that was lately."""
        grave = self._tables[kind].tombstone(namespace, name)
        return grave.at if grave else None

    def live_runs(self, namespace: str) -> tuple[AgentRun, ...]:
        """Runs that are not over."""
        return self._many(RUN, namespace, "live", AgentRun)

    def runs_of_sandbox(self, namespace: str, name: str) -> tuple[AgentRun, ...]:
        """Runs of the thread, ended ones too."""
        return self._many(RUN, namespace, f"sandbox={name}", AgentRun)

    def runs_of_profile(self, namespace: str, name: str) -> tuple[AgentRun, ...]:
        """Runs that are not over."""
        return self._many(RUN, namespace, f"profile={name}", AgentRun)

    def sandboxes(self, namespace: str) -> tuple[Sandbox, ...]:
        return tuple(each for each in self._tables[SANDBOX].namespace(namespace) if isinstance(each, Sandbox))

    def runner_pods(self, namespace: str, run: str, uid: str | None) -> tuple[PodView, ...]:
        """Runner Pods labelled with the run's name or its UID."""
        found = {pod.name: pod for pod in self._many(POD, namespace, f"run={run}", PodView)}
        if uid:
            found |= {pod.name: pod for pod in self._many(POD, namespace, f"run-uid={uid}", PodView)}
        return tuple(found[name] for name in sorted(found))

    def has_pod(self, namespace: str, uid: str) -> bool:
        return bool(self._tables[POD].indexed(namespace, f"run-uid={uid}"))

    def sandbox_pods(self, namespace: str, name: str) -> tuple[PodView, ...]:
        """Sandbox Pods labelled with the sandbox's name, and the Pod that has its name."""
        found = {pod.name: pod for pod in self._many(POD, namespace, f"sandbox={name}", PodView)}
        if own := self.pod(namespace, name):
            found[own.name] = own
        return tuple(found[each] for each in sorted(found))

    def _one(self, kind: Kind, namespace: str, name: str, model: type[T]) -> T | None:
        entry = self._tables[kind].get(namespace, name)
        return entry.value if entry is not None and isinstance(entry.value, model) else None

    def _many(self, kind: Kind, namespace: str, key: str, model: type[T]) -> tuple[T, ...]:
        found = self._tables[kind].indexed(namespace, key)
        return tuple(each for each in found if isinstance(each, model))


def _index(value: Cached) -> Iterable[str]:
    if isinstance(value, AgentRun):
        yield f"sandbox={sandbox_name(value)}"
        if not over(value):
            yield "live"
            yield f"profile={value.spec.profile_ref.name}"
    elif isinstance(value, PodView):
        component = value.labels.get(Label.COMPONENT)
        if component == Component.RUNNER:
            yield f"run={value.labels.get(Label.RUN, '')}"
            yield f"run-uid={value.labels.get(Label.RUN_UID, '')}"
        elif component == Component.SANDBOX:
            yield f"sandbox={value.labels.get(Label.SANDBOX, '')}"
