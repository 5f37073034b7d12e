"""plan_sandbox: what to do about one Sandbox, or about a name that should have one. The first rule that answers decides."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from skerry_operator.plan.boxes import common, held, standalone, unheld
from skerry_operator.plan.boxes.absent import plan_absent
from skerry_operator.plan.boxes.facts import BoxFacts, operator_made, read_box
from skerry_operator.plan.boxes.verdict import BoxStep, BoxVerdict
from skerry_operator.plan.types import ObservedSandbox, Plan
from skerry_operator.settings import PlanSettings
from skerry_operator.status.sandbox import box_events, box_set, next_box_status

__all__ = ["STANDALONE_RULES", "THREAD_RULES", "plan_sandbox"]

Rule = Callable[[BoxFacts], BoxStep | None]

THREAD_RULES: tuple[Rule, ...] = (
    common.being_deleted,  # nothing new is begun
    unheld.condemned,  # decided before; done now
    unheld.failed,  # only its holder still reads it
    held.left_by_another,  # Destroy: no run finds what another left
    unheld.released,  # the run is over: destroy, park, or drop what is of no use
    unheld.outlived,  # maxLifetime, of those that nobody holds
    unheld.parked,  # idle expiry
    # From here on a live run is to have it.
    common.strays,  # the Pod's name is still taken
    common.unprepared,
    held.no_pod,  # make it, or make it anew
    held.pod_lost,  # wait it out, clear it away
    common.policy_changed,
    held.ready,
)

STANDALONE_RULES: tuple[Rule, ...] = (
    common.being_deleted,
    standalone.ended,  # Released and Failed absorb
    common.strays,
    common.unprepared,
    standalone.no_pod,  # made once; never replaced
    standalone.pod_lost,
    standalone.outlived,
    common.policy_changed,
    standalone.usable,  # starts, is used, expires
)


def plan_sandbox(observed: ObservedSandbox, now: datetime, settings: PlanSettings) -> Plan:
    if observed.sandbox is None:
        return _guarded(observed, plan_absent(observed, now, settings), now, settings)
    facts = read_box(observed, observed.sandbox, now, settings)
    rules = THREAD_RULES if operator_made(observed.sandbox) else STANDALONE_RULES
    step = next(step for rule in rules if (step := rule(facts)) is not None)
    plan = step if isinstance(step, Plan) else _planned(facts, step)
    return _guarded(observed, plan, now, settings)


def _planned(b: BoxFacts, verdict: BoxVerdict) -> Plan:
    if (verdict.live or verdict.after) and not b.observed.live:
        return Plan(needs_live=True)
    status = next_box_status(b, verdict)
    new = box_set(status)
    if new == box_set(b.status):
        return Plan(actions=verdict.after, wake_at=verdict.wake_at)
    return Plan(status=new, events=box_events(b.status, status), wake_at=verdict.wake_at)


def _guarded(observed: ObservedSandbox, plan: Plan, now: datetime, settings: PlanSettings) -> Plan:
    """Nothing is done on hearsay, and what was just refused is not asked for again at once."""
    if plan.actions and observed.refusal is not None:
        return Plan(wake_at=now + settings.retry_refused)
    return Plan(needs_live=True) if plan.actions and not observed.live else plan
