"""What gather must know before it can read: which class, texts and sandbox a run is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.names import sandbox_id
from skerry_api.phases import TERMINAL, Acquire, WaitReason
from skerry_api.resolve import class_of, mounts_needed, texts_needed, thread_of
from skerry_api.sandbox import Sandbox
from skerry_operator.plan.lookup import Found, Lookup
from skerry_operator.plan.types import Admitted, Decision, TextRef

__all__ = [
    "acquire", "class_name", "class_names", "own_thread", "sandbox_name", "text_paths", "text_refs", "texts_wanted",
    "thread_id", "waiting_reason",
]  # fmt: skip

thread_id = thread_of
class_name = class_of


def own_thread(run: AgentRun) -> bool:
    """Whether nobody but this run can ever use its thread."""
    return run.spec.thread_id is None


def sandbox_name(run: AgentRun) -> str:
    """Name of the thread's Sandbox and of its Pod, which is the sandboxId."""
    return sandbox_id(run.metadata.namespace, run.spec.user_id, thread_of(run))


def class_names(
    sandbox: Sandbox | None, runs: Iterable[AgentRun], profiles: Mapping[str, Lookup[AgentProfile]]
) -> tuple[str, ...]:
    """Every class that planning a sandbox may need: its own and those of the runs that may ask for it."""
    names = [sandbox.spec.class_ref.name] if sandbox else []
    for run in runs:
        profile = profiles.get(run.spec.profile_ref.name)
        if run.status.phase not in TERMINAL and isinstance(profile, Found):
            names.append(class_of(run, profile.value))
    return tuple(dict.fromkeys(names))


def acquire(run: AgentRun, profile: AgentProfile) -> Acquire:
    return (run.spec.sandbox.acquire if run.spec.sandbox else None) or profile.spec.sandbox.acquire


def text_refs(run: AgentRun, profile: AgentProfile) -> tuple[TextRef, ...]:
    """Every text that the run's document needs, and every key that its Pod mounts."""
    return tuple(text_paths(run, profile))


def text_paths(run: AgentRun, profile: AgentProfile) -> dict[TextRef, str]:
    """The same, each with the field that asks for it, the first one if several do."""
    paths: dict[TextRef, str] = {}
    for need in texts_needed(run, profile):
        paths.setdefault(TextRef(*need.at), need.path)
    for need in mounts_needed(run, profile):
        paths.setdefault(TextRef(*need.at, mounted=True), need.path)
    return paths


def texts_wanted(
    run: AgentRun, profile: AgentProfile, decision: Decision | None, *, has_pod: bool
) -> tuple[TextRef, ...]:
    """Those of `text_refs` that the next plan will look at: none once a Pod runs, none while it only queues."""
    if has_pod or run.status.phase in TERMINAL:
        return ()
    begun = run.status.epoch is not None or isinstance(decision, Admitted)
    if begun or waiting_reason(run) == WaitReason.CONFIG_MAP_NOT_FOUND:
        return text_refs(run, profile)
    return ()


def waiting_reason(run: AgentRun) -> str:
    """The reason of the run's Ready condition; "" before the first status."""
    return next((each.reason for each in run.status.conditions if each.type == "Ready"), "")
