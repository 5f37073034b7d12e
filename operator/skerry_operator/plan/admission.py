"""plan_admission: what to do about the queue of a namespace."""

from __future__ import annotations

from datetime import datetime

from skerry_operator.plan.types import AdmissionPlan, ObservedQueue
from skerry_operator.settings import PlanSettings

__all__ = ["plan_admission"]


def plan_admission(observed: ObservedQueue, now: datetime, settings: PlanSettings) -> AdmissionPlan:
    raise NotImplementedError
