"""Runner Pods whose run is gone. The garbage collector is first; we come after it, for what it leaves."""

from __future__ import annotations

from datetime import datetime

from skerry_operator.plan.rules.ending import delete
from skerry_operator.plan.types import ObservedRun, Plan
from skerry_operator.settings import PlanSettings

__all__ = ["sweep_runner_pods"]


def sweep_runner_pods(observed: ObservedRun, now: datetime, settings: PlanSettings) -> Plan:
    left = [pod for pod in observed.pods if pod.ours and pod.owner_uid and not pod.terminating]
    if not left:
        return Plan()
    due = observed.gone_at + settings.orphan_grace if observed.gone_at else now
    return Plan(wake_at=due) if now < due else Plan(actions=tuple(delete(pod) for pod in left))
