"""Ends, and what is left to do after one: the report, the deadline, retention, time to live."""

from __future__ import annotations

from datetime import datetime, timedelta

from skerry_api.phases import TERMINAL, FailureClass, OutcomeClass, RunPhase, SandboxPhase, StopReason
from skerry_operator.plan.actions import Action, DeletePod, DeleteRun, RelayReport
from skerry_operator.plan.facts import RunFacts
from skerry_operator.plan.lookup import Found
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.report import relayed, runner_status
from skerry_operator.plan.runsandbox import held_sandbox
from skerry_operator.plan.types import Plan
from skerry_operator.plan.verdict import Step, Verdict
from skerry_operator.status.conditions import condition

__all__ = [
    "being_deleted",
    "delete",
    "failed",
    "finished",
    "past_active_deadline",
    "pod_end",
    "reported",
    "sandbox_lost",
]


def delete(pod: PodView, grace_seconds: int | None = None) -> DeletePod:
    return DeletePod(pod.namespace, pod.name, pod.uid, grace_seconds)


def failed(failure: FailureClass, message: str) -> Verdict:
    return Verdict(RunPhase.FAILED, failure, message, failure=failure, live=True)


def finished(f: RunFacts) -> Step | None:
    """Phases that absorb: only Pods and, where asked for, the run itself are cleared away."""
    if f.phase not in TERMINAL:
        return None
    due: list[tuple[datetime, Action]] = []
    ended = f.status.completion_time or f.now
    if f.pod is not None and not f.pod.terminating:
        due.append((pod_end(f, f.pod, ended), delete(f.pod)))
    due += [(f.now, delete(pod)) for pod in f.others if not pod.terminating]
    ttl = f.run.spec.ttl_seconds_after_finished
    if ttl is not None:
        meta = f.run.metadata
        due.append((ended + timedelta(seconds=ttl), DeleteRun(meta.namespace, meta.name, meta.uid)))
    actions = tuple(action for when, action in due if when <= f.now)
    return Plan(actions=actions, wake_at=min((when for when, _ in due if when > f.now), default=None))


def pod_end(f: RunFacts, pod: PodView, ended: datetime) -> datetime:
    """When a Pod whose work ended then is to be deleted."""
    if pod.finished:
        profile = f.observed.profile
        if isinstance(profile, Found):
            return ended + timedelta(seconds=profile.value.spec.runner_pod_retention_seconds)
        return ended + f.settings.runner_pod_retention
    # A runner that has reported is about to exit; one that has not is cut short by what ended the run.
    return ended + f.settings.cancel_grace if f.report else ended


def being_deleted(f: RunFacts) -> Step | None:
    """Its Pods go with it by their ownerReference; nothing new is begun."""
    return Plan() if f.run.metadata.deletion_timestamp is not None else None


def reported(f: RunFacts) -> Step | None:
    """A terminal report of the current epoch wins over whatever else is the case."""
    if f.report is None or not f.report.final:
        return None
    late, pod = f.report.termination, f.pod
    if late is not None and pod is not None and f.observed.refusal is None:
        meta = f.run.metadata
        status = relayed(f.run, pod, late)
        return Plan(actions=(RelayReport(meta.namespace, meta.name, meta.resource_version, status),))
    outcome = f.report.outcome
    if outcome.class_ is OutcomeClass.SUCCEEDED:
        stop = f.report.stop_reason or StopReason.END_TURN
        return Verdict(RunPhase.SUCCEEDED, RunPhase.SUCCEEDED, outcome.message, stop_reason=stop)
    if outcome.class_ is OutcomeClass.CANCELLED:
        return Verdict(RunPhase.CANCELLED, RunPhase.CANCELLED, outcome.message)
    failure = FailureClass(outcome.class_.value)
    words = ": ".join(part for part in (outcome.reason, outcome.message) if part)
    return Verdict(RunPhase.FAILED, failure, words, failure=failure)


def sandbox_lost(f: RunFacts) -> Step | None:
    """The sandbox that this run holds can't be had any more."""
    sandbox = held_sandbox(f.run, f.observed.sandbox)
    if sandbox is None or sandbox.status.phase is not SandboxPhase.FAILED:
        return None
    ready = condition(sandbox.status.conditions, "Ready")
    words = f"{ready.reason}: {ready.message}" if ready else "no reason given"
    return failed(FailureClass.SANDBOX_LOST, f"Sandbox {sandbox.metadata.name} failed: {words}")


def past_active_deadline(f: RunFacts) -> Step | None:
    begun = f.status.running_time
    if begun is None or f.now < begun + f.active_limit + f.paused:
        return None
    seconds = f.run.spec.limits.active_deadline_seconds
    runner = runner_status(f.run, f.epoch, f.pod)
    turns = f", in turn {runner.progress.turn}" if runner and runner.progress else ""
    return Verdict(
        RunPhase.TIMED_OUT, FailureClass.TIMEOUT,
        f"still running after {seconds} s (spec.limits.activeDeadlineSeconds){turns}",
        failure=FailureClass.TIMEOUT, live=True,
    )  # fmt: skip
