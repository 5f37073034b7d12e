"""plan_run: what to do about one AgentRun. The first rule that answers decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from skerry_api.phases import TERMINAL, RunPhase
from skerry_operator.plan.facts import RunFacts, read_facts
from skerry_operator.plan.rules import awaiting, cancelling, ending, losing, running, starting
from skerry_operator.plan.sweep import sweep_runner_pods
from skerry_operator.plan.types import ObservedRun, Plan
from skerry_operator.plan.verdict import Step, Verdict
from skerry_operator.settings import PlanSettings
from skerry_operator.status.events import run_events
from skerry_operator.status.run import next_status, operator_set, reobserved

__all__ = ["RULES", "plan_run"]

Rule = Callable[[RunFacts], Step | None]

RULES: tuple[Rule, ...] = (
    ending.finished,  # terminal phases absorb; what is left is clearing away
    ending.being_deleted,  # nothing new is begun
    running.strays,  # Pods of a former run or another epoch go first: never two for one run
    ending.reported,  # a terminal report of the current epoch always wins
    cancelling.cancelled,  # latched; before deadlines, so that a cancelled run ends Cancelled
    awaiting.ended_with_question,  # no deadline runs, no sandbox is held; passes on once it is answered
    ending.sandbox_lost,  # no replacement will come
    ending.past_active_deadline,  # counts through retries
    starting.unprepared,  # only before the first Pod: where nothing may be made, nothing is decided
    losing.lost,  # the Pod ends or is gone without a report; passes on where another epoch may start
    awaiting.in_place,  # the Pod is well, and waits for people
    starting.policy_changed,  # of a Pod that stays
    running.running,
    running.provisioning,
    # From here on there is no Pod: the first one, or the next epoch's, is to be made.
    starting.no_profile,
    starting.invalid,  # before the class: one that is not allowed need not exist
    starting.no_class,
    starting.no_text_yet,
    starting.queued,  # after what a person must bring, so that no such run holds up the queue
    starting.no_text,
    starting.remains,  # the old Pod object must be gone
    starting.refused,
    starting.start,
)


def plan_run(observed: ObservedRun, now: datetime, settings: PlanSettings) -> Plan:
    if observed.run is None:
        return _guarded(observed, sweep_runner_pods(observed, now, settings), now, settings)
    facts = read_facts(observed, observed.run, now, settings)
    step = next(step for rule in RULES if (step := rule(facts)) is not None)
    if isinstance(step, Plan):
        return _guarded(observed, _with_generation(facts, step), now, settings)
    return _guarded(observed, _planned(facts, _in_time(facts, step)), now, settings)


def _in_time(f: RunFacts, verdict: Verdict) -> Verdict:
    """A run that still starts when its start-up deadline has passed has failed, in the same words."""
    begun = f.status.epoch_time
    if verdict.late is None or begun is None or f.now < begun + f.startup_limit:
        return verdict
    if f.phase in {RunPhase.RUNNING, RunPhase.AWAITING_INPUT} or f.epoch != (f.status.epoch or 0):
        return verdict  # the clock starts anew with this very status
    seconds = f.run.spec.limits.startup_deadline_seconds
    return ending.failed(verdict.late, f"not running after {seconds} s: {verdict.message}")


def _planned(f: RunFacts, verdict: Verdict) -> Plan:
    if (verdict.live or verdict.before or verdict.after) and not f.observed.live:
        return Plan(needs_live=True)
    if verdict.before:
        return Plan(actions=verdict.before)
    status, grant = next_status(f, verdict)
    new, old = operator_set(status), operator_set(f.status)
    wake = min((t for t in (verdict.wake_at, status.deadline) if t is not None), default=None)
    if new == old and grant is None:
        return Plan(actions=verdict.after, wake_at=wake)
    early = _only_moved(f, new, old)
    if early is not None:
        return Plan(wake_at=early)
    return Plan(status=new, events=run_events(f.status, status), wake_at=wake, grant=grant)


def _only_moved(f: RunFacts, new: dict[str, object], old: dict[str, object]) -> datetime | None:
    """When a status that differs in nothing but the place in the queue may be written; None: now."""
    written = f.observed.status_written
    if written is None or "queue" not in new or "queue" not in old:
        return None
    due = written + f.settings.position_interval
    same = {**new, "queue": None} == {**old, "queue": None}
    return due if same and f.now < due else None


def _with_generation(f: RunFacts, plan: Plan) -> Plan:
    """An ended run whose spec was changed still says which generation it knows."""
    if plan.actions or plan.needs_live or f.phase not in TERMINAL:
        return plan
    if f.status.observed_generation == f.run.metadata.generation:
        return plan
    return replace(plan, status=operator_set(reobserved(f)))


def _guarded(observed: ObservedRun, plan: Plan, now: datetime, settings: PlanSettings) -> Plan:
    """Nothing is done on hearsay, and what was just refused is not asked for again at once."""
    if plan.actions and observed.refusal is not None:
        return Plan(wake_at=now + settings.retry_refused)
    return Plan(needs_live=True) if plan.actions and not observed.live else plan
