"""What to say of an AgentRun that our models can't read: CRDs and operator are of different versions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from skerry_api.base import format_time
from skerry_api.phases import ConditionType, FailureClass, RunPhase
from skerry_operator.cache.parse import Unreadable

__all__ = ["broken_status"]


def broken_status(broken: Unreadable, now: datetime) -> dict[str, Any] | None:
    """The whole operator-owned status; None for a run that had begun: what stands there is worth more than our word."""
    if broken.started:
        return None
    message = f"{broken.path}: {broken.problem}"

    def condition(kind: ConditionType, status: str) -> dict[str, Any]:
        return {
            "type": kind.value,
            "status": status,
            "reason": FailureClass.INVALID_SPEC.value,
            "message": message,
            "lastTransitionTime": format_time(now),
            "observedGeneration": broken.generation,
        }

    return {
        "observedGeneration": broken.generation,
        "phase": RunPhase.PENDING.value,
        "conditions": [
            condition(ConditionType.READY, "False"),
            condition(ConditionType.RECONCILING, "False"),
            condition(ConditionType.STALLED, "True"),
        ],
    }
