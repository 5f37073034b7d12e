"""The current epoch's Pod is there and well: it starts, or it runs."""

from __future__ import annotations

from skerry_api.phases import RunPhase
from skerry_operator.plan.facts import RunFacts
from skerry_operator.plan.podwords import waiting_words
from skerry_operator.plan.rules.ending import delete
from skerry_operator.plan.runsandbox import asks
from skerry_operator.plan.types import Plan
from skerry_operator.plan.verdict import Step, Verdict

__all__ = ["provisioning", "running", "strays"]


def strays(f: RunFacts) -> Step | None:
    """Pods of a former run of this name, or of another epoch: nobody waits for them."""
    actions = tuple(delete(pod) for pod in f.others if not pod.terminating)
    return Plan(actions=actions) if actions and f.observed.refusal is None else None


def running(f: RunFacts) -> Step | None:
    if f.pod is None or not (f.pod.container.running or f.pod.ready or f.was_running):
        return None
    where = f" on {f.pod.node}" if f.pod.node else ""
    return Verdict(RunPhase.RUNNING, RunPhase.RUNNING, f"Pod {f.pod.name} runs{where}{_no_sandbox(f)}")


def _no_sandbox(f: RunFacts) -> str:
    """Why the sandbox that the run asks for can't be had now."""
    if not asks(f.run):
        return ""
    if broken := f.observed.sandbox_broken:
        return f"; its sandbox can't be read: {broken.detail}"
    refusal = f.observed.sandbox_refusal
    return f"; its sandbox is refused: {refusal.message}" if refusal else ""


def provisioning(f: RunFacts) -> Step | None:
    if f.pod is None:
        return None
    words = waiting_words(f.pod)
    return Verdict(RunPhase.PROVISIONING, words.reason, words.message, words_vary=True, late=words.late)
