"""Which keys a change concerns: pure, of the change and what else is cached."""

from __future__ import annotations

from collections.abc import Iterator

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.labels import Component, Label
from skerry_api.phases import WaitReason
from skerry_api.sandbox import Sandbox
from skerry_operator.cache.parse import Unreadable
from skerry_operator.cache.store import Change, Store, over
from skerry_operator.keys import Key, queue_key, run_key, sandbox_key
from skerry_operator.kube.kinds import CLASS, POD, PROFILE, RUN, SANDBOX
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.resolve import sandbox_name, waiting_reason

__all__ = ["wakes"]


def wakes(change: Change, store: Store) -> Iterator[Key]:
    """Keys to reconcile after the change; may name one twice."""
    if change.kind is RUN:
        yield from _run(change)
    elif change.kind is SANDBOX:
        yield from _sandbox(change, store)
    elif change.kind is POD:
        yield from _pod(change)
    elif change.kind is PROFILE:
        yield from _profile(change, store)
    elif change.kind is CLASS:
        yield from _class(change, store)


def _run(change: Change) -> Iterator[Key]:
    yield run_key(change.namespace, change.name)
    runs = [run for run in (change.old, change.new) if isinstance(run, AgentRun)]
    for run in runs:
        yield sandbox_key(change.namespace, sandbox_name(run))
    if len(runs) < 2 or _queue_facts(runs[0]) != _queue_facts(runs[1]):
        yield queue_key(change.namespace)


def _queue_facts(run: AgentRun) -> tuple[object, ...]:
    """What admission can see of a run; reports of progress are not among it."""
    return (
        run.metadata.uid,
        run.status.phase,
        run.status.epoch,
        run.spec.cancel,
        run.status.cancelled,
        waiting_reason(run) == WaitReason.CONFIG_MAP_NOT_FOUND,
        run.metadata.deletion_timestamp,
    )


def _sandbox(change: Change, store: Store) -> Iterator[Key]:
    yield sandbox_key(change.namespace, change.name)
    for run in store.runs_of_sandbox(change.namespace, change.name):
        if not over(run):
            yield run_key(change.namespace, run.metadata.name)
    old, new = change.old, change.new
    if not (isinstance(old, Sandbox) and isinstance(new, Sandbox) and old.status.phase == new.status.phase):
        yield queue_key(change.namespace)


def _pod(change: Change) -> Iterator[Key]:
    for pod in (change.old, change.new):
        if not isinstance(pod, PodView):
            continue
        component = pod.labels.get(Label.COMPONENT)
        if component == Component.RUNNER:
            yield run_key(change.namespace, pod.labels.get(Label.RUN, ""))
        elif component == Component.SANDBOX:
            yield sandbox_key(change.namespace, pod.labels.get(Label.SANDBOX, ""))
            yield sandbox_key(change.namespace, pod.name)
    if change.old is None or change.new is None:
        yield queue_key(change.namespace)


def _profile(change: Change, store: Store) -> Iterator[Key]:
    if _same_spec(change):
        return
    for run in store.runs_of_profile(change.namespace, change.name):
        yield run_key(change.namespace, run.metadata.name)
        yield sandbox_key(change.namespace, sandbox_name(run))
    yield queue_key(change.namespace)


def _class(change: Change, store: Store) -> Iterator[Key]:
    """Who uses a class depends on profiles too: everybody alive in the namespace looks."""
    for run in store.live_runs(change.namespace):
        yield run_key(change.namespace, run.metadata.name)
    for sandbox in store.sandboxes(change.namespace):
        yield sandbox_key(change.namespace, sandbox.metadata.name)
    yield queue_key(change.namespace)


def _same_spec(change: Change) -> bool:
    """Labels of a profile changed, or such: nobody reads them."""
    old, new = change.old, change.new
    if isinstance(old, Unreadable) or isinstance(new, Unreadable):
        return False
    return (
        isinstance(old, AgentProfile)
        and isinstance(new, AgentProfile)
        and (old.metadata.uid == new.metadata.uid and old.spec == new.spec)
    )
