"""plan_run: what to do about one AgentRun."""

from __future__ import annotations

from datetime import datetime

from skerry_operator.plan.types import ObservedRun, Plan
from skerry_operator.settings import PlanSettings

__all__ = ["plan_run"]


def plan_run(observed: ObservedRun, now: datetime, settings: PlanSettings) -> Plan:
    raise NotImplementedError
