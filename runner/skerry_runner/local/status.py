"""The status of a local run, with the fields that it would have in a cluster. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from skerry_api.agentrun import AgentRun, AgentRunStatus, Failure, ProfileUsed, SandboxUse
from skerry_api.common import Condition
from skerry_api.phases import ConditionType, FailureClass, OutcomeClass, RunPhase, SandboxState
from skerry_api.report import JOURNAL_FAULT_MAX, RunnerStatus
from skerry_runner.local.assignment import Assignment
from skerry_runner.ports import RunResult

__all__ = ["JOURNAL_UNWRITABLE", "Times", "end_of", "ended", "with_journal_fault"]

JOURNAL_UNWRITABLE = "JournalUnwritable"
LOCAL = "local"
"""Stands for UIDs that only an API server could give."""
_Truth = Literal["True", "False", "Unknown"]
# Ready, Reconciling, Stalled, Succeeded: as the operator has them for the same phases.
_CONDITIONS: dict[RunPhase, tuple[_Truth, _Truth, _Truth, _Truth]] = {
    RunPhase.AWAITING_INPUT: ("True", "False", "False", "Unknown"),
    RunPhase.SUCCEEDED: ("True", "False", "False", "True"),
    RunPhase.FAILED: ("False", "False", "True", "False"),
    RunPhase.TIMED_OUT: ("False", "False", "True", "False"),
    RunPhase.CANCELLED: ("True", "False", "False", "False"),
}
_TYPES = (ConditionType.READY, ConditionType.RECONCILING, ConditionType.STALLED, ConditionType.SUCCEEDED)


@dataclass(frozen=True)
class Times:
    """`paused_seconds`: how long the run awaited answers before this epoch."""

    started: datetime
    ended: datetime
    paused_seconds: int = 0

    @property
    def active_seconds(self) -> float:
        return (self.ended - self.started).total_seconds() - self.paused_seconds


def end_of(result: RunResult, *, timed_out: bool, seconds: int) -> tuple[RunPhase, Failure | None]:
    """Phase and failure of a result. `timed_out`: the active deadline of so many seconds stopped it."""
    outcome = result.outcome
    match outcome.class_:
        case OutcomeClass.SUCCEEDED:
            return RunPhase.SUCCEEDED, None
        case OutcomeClass.CANCELLED | OutcomeClass.INTERRUPTED:
            if timed_out:
                words = f"still running after {seconds} s (spec.limits.activeDeadlineSeconds)"
                return RunPhase.TIMED_OUT, Failure(class_=FailureClass.TIMEOUT, message=words)
            return RunPhase.CANCELLED, None
        case OutcomeClass.AWAITING_INPUT:
            return RunPhase.AWAITING_INPUT, None
        case _:
            message = ": ".join(part for part in (outcome.reason, outcome.message) if part)
            return RunPhase.FAILED, Failure(class_=FailureClass(outcome.class_.value), message=message)


def ended(assignment: Assignment, result: RunResult, times: Times, *, timed_out: bool) -> AgentRun:
    """The run with its final status."""
    run, document = assignment.run, assignment.document
    seconds = run.spec.limits.active_deadline_seconds
    phase, failure = end_of(result, timed_out=timed_out, seconds=seconds)
    reason = failure.class_.value if failure else phase.value
    message = failure.message if failure else result.outcome.message
    awaits = phase is RunPhase.AWAITING_INPUT
    if result.question is not None:
        message = f"question {result.question.id}: {result.question.text}"
    used = result.sandbox_id is not None
    status = AgentRunStatus(
        observed_generation=run.metadata.generation,
        phase=phase,
        stop_reason=result.stop_reason,
        failure=failure,
        conditions=_conditions(phase, reason, message, times.ended),
        epoch=document.run.epoch,
        attempts=1,
        thread_id=document.thread_id,
        profile=ProfileUsed(uid=LOCAL, generation=1),
        start_time=times.started,
        epoch_time=times.started,
        running_time=times.started,
        paused_since=times.ended if awaits else None,
        paused_seconds=times.paused_seconds or None,
        completion_time=None if awaits else times.ended,
        deadline=None if awaits else times.started + timedelta(seconds=seconds + times.paused_seconds),
        cancelled=True if phase is RunPhase.CANCELLED else None,
        sandbox=SandboxUse(name=document.sandbox.sandbox_id, state=SandboxState.RELEASED) if used else None,
        sandbox_id=result.sandbox_id,
        runner=RunnerStatus(
            epoch=document.run.epoch,
            pod_uid=LOCAL,
            progress=result.progress,
            usage=result.usage,
            question=result.question,
            answer=result.answer,
            outcome=result.outcome,
            stop_reason=result.stop_reason,
            artifacts=result.artifacts,
        ),
    )
    return run.model_copy(update={"status": status})


def with_journal_fault(run: AgentRun, fault: str | None, now: datetime) -> AgentRun:
    """The ended run with what is wrong with its journal, None if nothing is."""
    status = run.status
    if fault is None or status.runner is None:
        return run
    told = fault[:JOURNAL_FAULT_MAX]
    gap = Condition(
        type=ConditionType.JOURNAL_COMPLETE, status="False", reason=JOURNAL_UNWRITABLE, message=told,
        last_transition_time=now, observed_generation=status.observed_generation,
    )  # fmt: skip
    runner = status.runner.model_copy(update={"journal_fault": told})
    news = {"runner": runner, "conditions": (*status.conditions, gap)}
    return run.model_copy(update={"status": status.model_copy(update=news)})


def _conditions(phase: RunPhase, reason: str, message: str, now: datetime) -> tuple[Condition, ...]:
    return tuple(
        Condition(
            type=kind, status=truth, reason=reason, message=message[:2048], last_transition_time=now,
            observed_generation=1,
        )
        for kind, truth in zip(_TYPES, _CONDITIONS[phase], strict=True)
    )  # fmt: skip
