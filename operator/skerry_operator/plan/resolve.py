"""Run and profile laid over each other: which model, class and texts a run uses, and its sandbox's name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.names import sandbox_id
from skerry_api.phases import TERMINAL, Acquire
from skerry_api.sandbox import Sandbox
from skerry_operator.plan.lookup import Found, Lookup
from skerry_operator.plan.types import TextRef

__all__ = [
    "acquire", "class_name", "class_names", "model_name", "own_thread", "prompt_ref", "sandbox_name", "script_ref", "text_refs", "thread_id",
]  # fmt: skip


def thread_id(run: AgentRun) -> str:
    """The thread's id: as decided before, as named, else the run's own UID."""
    return run.status.thread_id or run.spec.thread_id or run.metadata.uid


def own_thread(run: AgentRun) -> bool:
    """Whether nobody but this run can ever use its thread."""
    return run.spec.thread_id is None


def sandbox_name(run: AgentRun) -> str:
    """Name of the thread's Sandbox and of its Pod, which is the sandboxId."""
    return sandbox_id(run.metadata.namespace, run.spec.user_id, thread_id(run))


def class_name(run: AgentRun, profile: AgentProfile) -> str:
    chosen = run.spec.sandbox.class_ref if run.spec.sandbox else None
    return (chosen or profile.spec.sandbox.class_ref).name


def class_names(
    sandbox: Sandbox | None, runs: Iterable[AgentRun], profiles: Mapping[str, Lookup[AgentProfile]]
) -> tuple[str, ...]:
    """Every class that planning a sandbox may need: its own and those of the runs that may ask for it."""
    names = [sandbox.spec.class_ref.name] if sandbox else []
    for run in runs:
        profile = profiles.get(run.spec.profile_ref.name)
        if run.status.phase not in TERMINAL and isinstance(profile, Found):
            names.append(class_name(run, profile.value))
    return tuple(dict.fromkeys(names))


def model_name(run: AgentRun, profile: AgentProfile) -> str:
    return (run.spec.model.name if run.spec.model else None) or profile.spec.model.name


def acquire(run: AgentRun, profile: AgentProfile) -> Acquire:
    return (run.spec.sandbox.acquire if run.spec.sandbox else None) or profile.spec.sandbox.acquire


def prompt_ref(run: AgentRun) -> TextRef | None:
    source = run.spec.prompt_from
    return TextRef(source.config_map_key_ref.name, source.config_map_key_ref.key) if source else None


def script_ref(run: AgentRun, profile: AgentProfile) -> TextRef | None:
    """The profile's script in a ConfigMap; a run's own script stands instead of it."""
    source = profile.spec.model.script_ref
    if source is None or (run.spec.model is not None and run.spec.model.script is not None):
        return None
    return TextRef(source.config_map_key_ref.name, source.config_map_key_ref.key)


def text_refs(run: AgentRun, profile: AgentProfile) -> tuple[TextRef, ...]:
    """Every text that must be fetched before the run's document can be made."""
    refs = (prompt_ref(run), script_ref(run, profile))
    return tuple(dict.fromkeys(ref for ref in refs if ref is not None))
