"""What follows from an observation of a run before any rule is asked: its epoch, its Pod, its report."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from skerry_api.agentrun import AgentRun, AgentRunStatus, Answer
from skerry_api.phases import RunPhase
from skerry_api.report import Question
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.report import Report, ended_asking, read_report, read_termination, runner_status
from skerry_operator.plan.types import ObservedRun
from skerry_operator.settings import PlanSettings

__all__ = ["RunFacts", "read_facts"]


@dataclass(frozen=True, slots=True)
class RunFacts:
    observed: ObservedRun
    run: AgentRun
    now: datetime
    settings: PlanSettings
    epoch: int
    """The current epoch: the status's, or that of a Pod made just before the status was to say so; 0: none yet."""
    pod: PodView | None
    """The current epoch's Pod."""
    others: tuple[PodView, ...]
    """Pods of ours under this run's name that are not `pod`: of a former run, or of another epoch."""
    report: Report | None
    cancelled: bool
    """Latched: taking spec.cancel back changes nothing."""
    tool_calls: int
    """As reported by any epoch; 0 is trustworthy only on a live read."""

    @property
    def status(self) -> AgentRunStatus:
        return self.run.status

    @property
    def phase(self) -> RunPhase | None:
        return self.run.status.phase

    @property
    def started(self) -> bool:
        """Some epoch has had a Pod."""
        return self.epoch > 0

    @property
    def was_running(self) -> bool:
        """The current epoch, not only one before it, has been Running; it may wait for an answer since."""
        return self.phase in {RunPhase.RUNNING, RunPhase.AWAITING_INPUT} and self.epoch == self.status.epoch

    @property
    def attempts(self) -> int:
        """Runner Pods so far, the current one included; those that an answer started are no attempts."""
        known = self.status.epoch or 0
        answered = 1 if self.epoch > known and ended_asking(self.status) else 0
        return (self.status.attempts or 0) + self.epoch - known - answered

    @property
    def question(self) -> Question | None:
        """What the runner of the current epoch asks: its last word, or while it waits for the answer itself."""
        if self.report is not None:
            return self.report.question if self.report.awaits else None
        runner = runner_status(self.run, self.epoch, self.pod)
        return runner.question if runner else None

    @property
    def answer(self) -> Answer | None:
        """The answer to `question`; answers to other questions are somebody's mistake, or history."""
        asked = self.question
        return next((each for each in self.run.spec.answers if asked and each.question_id == asked.id), None)

    @property
    def paused(self) -> timedelta:
        """How long the run has awaited input in all, a wait that goes on included."""
        since = self.status.paused_since
        going_on = max(self.now - since, timedelta()) if since else timedelta()
        return timedelta(seconds=self.status.paused_seconds or 0) + going_on

    @property
    def waiting_phase(self) -> RunPhase:
        """The phase of a run that waits before its Pod: Provisioning once it has been there."""
        early = {None, RunPhase.PENDING, RunPhase.QUEUED}
        return RunPhase.PENDING if self.phase in early and not self.started else RunPhase.PROVISIONING

    @property
    def startup_limit(self) -> timedelta:
        return timedelta(seconds=self.run.spec.limits.startup_deadline_seconds)

    @property
    def active_limit(self) -> timedelta:
        return timedelta(seconds=self.run.spec.limits.active_deadline_seconds)


def read_facts(observed: ObservedRun, run: AgentRun, now: datetime, settings: PlanSettings) -> RunFacts:
    mine = [pod for pod in observed.pods if pod.owner_uid == run.metadata.uid]
    epoch = max([run.status.epoch or 0, *(pod.epoch for pod in mine)])
    pod = next((each for each in mine if _current(each, run, epoch)), None)
    termination = read_termination(run, epoch, pod)
    progress = [
        run.status.runner.progress if run.status.runner else None,
        termination.progress if termination else None,
    ]
    return RunFacts(
        observed=observed,
        run=run,
        now=now,
        settings=settings,
        epoch=epoch,
        pod=pod,
        others=tuple(each for each in observed.pods if each is not pod and each.ours),
        report=read_report(run, epoch, pod),
        cancelled=run.spec.cancel or bool(run.status.cancelled),
        tool_calls=max((each.tool_calls for each in progress if each), default=0),
    )


def _current(pod: PodView, run: AgentRun, epoch: int) -> bool:
    # A Pod of the epoch that the status knows, but with another UID, is not the one that was fenced in.
    known = run.status.pod_uid if run.status.epoch == epoch else None
    return pod.epoch == epoch and known in {None, pod.uid}
