"""There is no Sandbox of this name: a run asks for one, or a former one left its Pod."""

from __future__ import annotations

from datetime import datetime

from skerry_operator.build.sandbox_pod import build_sandbox
from skerry_operator.plan.actions import CreateSandbox
from skerry_operator.plan.boxes.common import SOON, delete
from skerry_operator.plan.boxes.facts import oldest
from skerry_operator.plan.lookup import Found
from skerry_operator.plan.resolve import class_name
from skerry_operator.plan.runsandbox import asks
from skerry_operator.plan.types import ObservedSandbox, Plan
from skerry_operator.settings import PlanSettings

__all__ = ["plan_absent"]


def plan_absent(observed: ObservedSandbox, now: datetime, settings: PlanSettings) -> Plan:
    run = oldest(run for run in observed.runs if asks(run))
    left = [pod for pod in observed.pods if pod.ours and pod.owner_uid]
    if left:
        # The garbage collector is first, unless somebody waits for the name.
        due = observed.gone_at + settings.orphan_grace if observed.gone_at and run is None else now
        if now < due:
            return Plan(wake_at=due)
        return Plan(actions=tuple(delete(pod) for pod in left if not pod.terminating))
    if run is None or not observed.prepared:
        return Plan()
    profile = observed.profiles.get(run.spec.profile_ref.name)
    if not isinstance(profile, Found):
        return Plan(wake_at=now + SOON)
    return Plan(actions=(CreateSandbox(build_sandbox(run, class_name(run, profile.value))),))
