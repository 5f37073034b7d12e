"""The next status of a run out of the last one and a verdict. Pure; time moves only what has changed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from skerry_api.agentrun import RUNNER_FIELDS, AgentRunStatus, Failure, ProfileUsed, Queue
from skerry_api.common import Condition
from skerry_api.phases import TERMINAL, Acquire, ConditionType, RunPhase, may_follow
from skerry_operator.plan.facts import RunFacts
from skerry_operator.plan.lookup import Found
from skerry_operator.plan.position import bucketed
from skerry_operator.plan.report import runner_status
from skerry_operator.plan.resolve import acquire, thread_id
from skerry_operator.plan.runsandbox import use_of
from skerry_operator.plan.types import GrantRequest
from skerry_operator.plan.verdict import Verdict
from skerry_operator.status.conditions import Wanted, condition, cut, merge
from skerry_operator.status.kstatus import run_conditions
from skerry_operator.status.reasons import Reason

__all__ = ["IllegalTransitionError", "next_status", "operator_set", "reobserved"]

FAILURE_MAX = 4096
_ACTIVE = frozenset({RunPhase.RUNNING, RunPhase.AWAITING_INPUT})


class IllegalTransitionError(AssertionError):
    """A rule wants a phase that may not follow; a fault in the rules, never in an object."""


def operator_set(status: AgentRunStatus) -> dict[str, Any]:
    """The operator's whole set of fields as JSON, as it is applied."""
    return {key: value for key, value in status.wire().items() if key not in RUNNER_FIELDS}


def next_status(f: RunFacts, verdict: Verdict) -> tuple[AgentRunStatus, GrantRequest | None]:
    """Raises IllegalTransitionError; `grant` is what must be minted into sandbox.grant before it is written."""
    old, phase, now = f.status, verdict.phase, f.now
    if not may_follow(old.phase, phase):
        raise IllegalTransitionError(f"{old.phase} can't become {phase} ({verdict.reason})")
    ends = phase in TERMINAL
    begun = old.epoch is not None or f.epoch > 0
    fresh = f.epoch != (old.epoch or 0)
    running = old.running_time or (now if phase in _ACTIVE else None)
    awaits = phase is RunPhase.AWAITING_INPUT
    epoch_time = _epoch_time(f, verdict, fresh=fresh)
    sandbox, grant = use_of(
        f.run,
        f.observed.sandbox,
        phase,
        eager=_eager(f) and not parked(f, phase),
        deadline=_grant_end(f, phase, running),
        parked=parked(f, phase),
        unreadable=f.observed.sandbox_broken is not None,
    )
    status = AgentRunStatus(
        observed_generation=f.run.metadata.generation,
        phase=phase,
        stop_reason=verdict.stop_reason,
        failure=Failure.model_validate(
            {"class": verdict.failure, "message": cut(verdict.message, FAILURE_MAX)}
        )
        if verdict.failure
        else None,
        conditions=_conditions(f, verdict),
        queue=Queue(position=bucketed(verdict.queue[0]), reason=verdict.queue[1]) if verdict.queue else None,
        epoch=f.epoch if begun else None,
        attempts=f.attempts if begun else None,
        pod_name=f.pod.name if f.pod else old.pod_name,
        pod_uid=f.pod.uid if f.pod else old.pod_uid,
        thread_id=thread_id(f.run),
        profile=_profile(f, fresh=fresh),
        start_time=old.start_time or (now if begun or phase is RunPhase.PROVISIONING else None),
        epoch_time=epoch_time,
        running_time=running,
        paused_since=(old.paused_since or now) if awaits else None,
        paused_seconds=old.paused_seconds if awaits else _paused_seconds(f),
        completion_time=now if ends else None,
        deadline=_deadline(f, phase, epoch_time, running),
        cancelled=f.cancelled or None,
        sandbox=sandbox,
    )
    return status, grant


def parked(f: RunFacts, phase: RunPhase) -> bool:
    """Whether the run waits without a runner, and so without a sandbox."""
    return phase is RunPhase.AWAITING_INPUT and f.report is not None


def reobserved(f: RunFacts) -> AgentRunStatus:
    """An ended run's status after its spec was changed: the same, decided on the new generation."""
    generation = f.run.metadata.generation
    conditions = tuple(
        each.model_copy(update={"observed_generation": generation}) for each in f.status.conditions
    )
    return f.status.model_copy(update={"observed_generation": generation, "conditions": conditions})


def _conditions(f: RunFacts, verdict: Verdict) -> tuple[Condition, ...]:
    message = verdict.message
    ready = condition(f.status.conditions, "Ready")
    same = f.status.phase is verdict.phase and f.epoch == f.status.epoch
    if verdict.words_vary and same and ready is not None and ready.reason == verdict.reason:
        message = ready.message
    wanted = run_conditions(
        verdict.phase, verdict.reason, message, blocked=verdict.blocked, settling=verdict.settling
    )
    wanted += _journal(f)
    return merge(f.status.conditions, wanted, f.run.metadata.generation, f.now)


def _journal(f: RunFacts) -> list[Wanted]:
    """The gap that the runner tells of. It may mend one of its own epoch; what an older one has lost stays lost."""
    kind = ConditionType.JOURNAL_COMPLETE.value
    runner = runner_status(f.run, f.epoch, f.pod)
    if runner is not None and runner.journal_fault:
        return [Wanted(kind, "False", Reason.JOURNAL_UNWRITABLE.value, runner.journal_fault)]
    before, began = condition(f.status.conditions, kind), f.status.epoch_time
    if before is None:
        return []
    own = runner is not None and f.epoch == f.status.epoch
    if own and began is not None and before.last_transition_time >= began:
        return []
    return [Wanted(kind, "False", before.reason, before.message)]


def _epoch_time(f: RunFacts, verdict: Verdict, *, fresh: bool) -> datetime | None:
    """When the start-up clock began: not in the queue, not while another person has to act, anew per epoch."""
    old = f.status
    if verdict.phase in TERMINAL:
        return old.epoch_time
    if verdict.phase is RunPhase.QUEUED or verdict.blocked:
        return None
    again = fresh and old.epoch is not None
    waits_again = old.phase in _ACTIVE and verdict.phase is RunPhase.PROVISIONING
    return f.now if again or waits_again else old.epoch_time or f.now


def _paused_seconds(f: RunFacts) -> int | None:
    return int(f.paused.total_seconds()) or None


def _grant_end(f: RunFacts, phase: RunPhase, running: datetime | None) -> datetime | None:
    """Some time after the active deadline. While the run awaits input both stand still: the grant stays as it is."""
    if running is None:
        return None
    before = timedelta(seconds=f.status.paused_seconds or 0)
    paused = before if phase is RunPhase.AWAITING_INPUT else f.paused
    return running + f.active_limit + timedelta(seconds=int(paused.total_seconds())) + f.settings.grant_margin


def _deadline(
    f: RunFacts, phase: RunPhase, epoch_time: datetime | None, running: datetime | None
) -> datetime | None:
    """The deadline now in force; a run that starts again is under both, one that awaits input under none."""
    if phase in TERMINAL or phase in {RunPhase.QUEUED, RunPhase.AWAITING_INPUT}:
        return None
    active = f.active_limit + timedelta(seconds=_paused_seconds(f) or 0)
    limits: list[tuple[datetime | None, timedelta]] = [(running, active)]
    if phase is not RunPhase.RUNNING:
        limits.append((epoch_time, f.startup_limit))
    return min((begin + limit for begin, limit in limits if begin is not None), default=None)


def _profile(f: RunFacts, *, fresh: bool) -> ProfileUsed | None:
    found = f.observed.profile
    if not fresh or not isinstance(found, Found):
        return f.status.profile
    meta = found.value.metadata
    return ProfileUsed(uid=meta.uid, generation=meta.generation)


def _eager(f: RunFacts) -> bool:
    found = f.observed.profile
    return f.pod is not None and isinstance(found, Found) and acquire(f.run, found.value) is Acquire.EAGER
