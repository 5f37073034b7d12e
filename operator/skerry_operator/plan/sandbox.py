"""plan_sandbox: what to do about one Sandbox."""

from __future__ import annotations

from datetime import datetime

from skerry_operator.plan.types import ObservedSandbox, Plan
from skerry_operator.settings import PlanSettings

__all__ = ["plan_sandbox"]


def plan_sandbox(observed: ObservedSandbox, now: datetime, settings: PlanSettings) -> Plan:
    raise NotImplementedError
