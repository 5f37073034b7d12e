"""The runner's last word, from the run's status or else from the Pod's termination message. Untrusted input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from skerry_api.agentrun import AgentRun, AgentRunStatus
from skerry_api.phases import PAUSES, OutcomeClass, StopReason
from skerry_api.report import (
    ARTIFACTS_MAX,
    Outcome,
    Progress,
    Question,
    RunArtifact,
    RunnerStatus,
    TerminationReport,
)
from skerry_operator.plan.podview import PodView

__all__ = ["Report", "ended_asking", "read_report", "read_termination", "relayed", "runner_status"]


@dataclass(frozen=True, slots=True)
class Report:
    outcome: Outcome
    stop_reason: StopReason | None = None
    termination: TerminationReport | None = None
    """Set where it came by the termination message alone."""
    question: Question | None = None
    """With which the epoch ended."""

    @property
    def final(self) -> bool:
        """Whether it ends the run; Interrupted leaves that to the operator, AwaitingInput to people."""
        return self.outcome.class_ not in PAUSES

    @property
    def awaits(self) -> bool:
        """Whether the next epoch waits for an answer."""
        return self.outcome.class_ is OutcomeClass.AWAITING_INPUT


def runner_status(run: AgentRun, epoch: int, pod: PodView | None) -> RunnerStatus | None:
    """What the runner of this epoch, and of no other Pod, says in the status."""
    runner = run.status.runner
    uid = pod.uid if pod else run.status.pod_uid
    return runner if runner and epoch and runner.epoch == epoch and runner.pod_uid == uid else None


def ended_asking(status: AgentRunStatus) -> bool:
    """Whether the last epoch that the status knows ended with a question."""
    runner = status.runner
    if runner is None or runner.outcome is None or status.epoch is None:
        return False
    current = runner.epoch == status.epoch and runner.pod_uid == status.pod_uid
    return current and runner.outcome.class_ is OutcomeClass.AWAITING_INPUT


def read_termination(run: AgentRun, epoch: int, pod: PodView | None) -> TerminationReport | None:
    """The report in the Pod's termination message; None for anything that is not this epoch's report."""
    ended = pod.container.terminated if pod else None
    if ended is None or not ended.message:
        return None
    try:
        report = TerminationReport.model_validate_json(ended.message)
    except ValidationError:
        return None
    return report if report.run_uid == run.metadata.uid and report.epoch == epoch else None


def read_report(run: AgentRun, epoch: int, pod: PodView | None) -> Report | None:
    runner = runner_status(run, epoch, pod)
    if runner is not None and runner.outcome is not None:
        return Report(runner.outcome, runner.stop_reason, question=runner.question)
    late = read_termination(run, epoch, pod)
    return Report(late.outcome, late.stop_reason, late, late.question) if late else None


def relayed(run: AgentRun, pod: PodView, late: TerminationReport) -> dict[str, Any]:
    """The runner's whole set of status fields with its termination report laid in."""
    told = run.status.runner
    known = runner_status(run, late.epoch, pod) or RunnerStatus(
        # What an earlier epoch presented is still there, and what it called has been called.
        epoch=late.epoch,
        pod_uid=pod.uid,
        node=pod.node or None,
        artifacts=told.artifacts if told else None,
        progress=told.progress if told else None,
    )
    news: dict[str, Any] = {
        "outcome": late.outcome,
        "stop_reason": late.stop_reason,
        "progress": _further(known.progress, late.progress),
        "usage": late.usage or known.usage,
        "question": late.question,
        "artifacts": _presented(known.artifacts, late.artifacts),
        "answer": known.answer if late.answer is None else late.answer,
        "answer_ref": late.answer_ref or known.answer_ref,
        # Said after the journal's last flush: a gap that status knows of may have been filled by then.
        "journal_fault": late.journal_fault,
    }
    runner = known.model_copy(update=news).wire()
    sandbox = {"sandboxId": run.status.sandbox_id} if run.status.sandbox_id else {}
    return {"runner": runner} | sandbox


def _presented(
    known: tuple[RunArtifact, ...] | None, late: tuple[RunArtifact, ...] | None
) -> tuple[RunArtifact, ...] | None:
    """A termination message may be too short for the older ones; a path presented again has new facts."""
    newest = {each.path: each for each in (*(known or ()), *(late or ()))}
    return tuple(newest.values())[-ARTIFACTS_MAX:] or None


def _further(known: Progress | None, late: Progress | None) -> Progress | None:
    further = max((each for each in (known, late) if each), key=lambda each: each.turn, default=None)
    if further is None or known is None or further.todos is not None:
        return further
    # A termination message may be too short for the todos.
    return further.model_copy(update={"todos": known.todos})
