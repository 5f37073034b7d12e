"""What to say of an AgentRun or a Sandbox that our models can't read: CRDs and operator are of different versions."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from skerry_api.base import format_time
from skerry_api.phases import ConditionType, FailureClass, RunPhase, SandboxPhase
from skerry_operator.cache.parse import Unreadable
from skerry_operator.status.conditions import MESSAGE_MAX, ConditionStatus, cut

__all__ = ["broken_box_status", "broken_status"]

Json = dict[str, Any]


def broken_status(broken: Unreadable, now: datetime) -> Json | None:
    """The whole operator-owned status; None for a run that had begun: what stands there is worth more than our word."""
    if broken.started:
        return None
    return {
        "observedGeneration": broken.generation,
        "phase": RunPhase.PENDING.value,
        "conditions": [
            _condition(broken, ConditionType.READY, "False", now),
            _condition(broken, ConditionType.RECONCILING, "False", now),
            _condition(broken, ConditionType.STALLED, "True", now),
        ],
    }


def broken_box_status(broken: Unreadable, now: datetime) -> Json | None:
    """A Sandbox's whole status: as it stands, since its Pod and its holder go on, and Stalled. None: that is said."""
    before = dict(broken.status)
    phase = before.setdefault("phase", SandboxPhase.PENDING.value)
    said = {each.get("type"): each for each in before.get("conditions") or () if isinstance(each, Mapping)}
    told = [ConditionType.READY] if phase == SandboxPhase.PENDING else []
    for kind in (*told, ConditionType.STALLED):
        wanted = _condition(broken, kind, "True" if kind is ConditionType.STALLED else "False", now)
        same = said.get(kind.value)
        if same is not None and same.get("status") == wanted["status"]:
            wanted["lastTransitionTime"] = same.get("lastTransitionTime", wanted["lastTransitionTime"])
        said[kind.value] = wanted  # in its old place
    status = before | {"observedGeneration": broken.generation, "conditions": list(said.values())}
    return None if status == dict(broken.status) else status


def _condition(broken: Unreadable, kind: ConditionType, status: ConditionStatus, now: datetime) -> Json:
    return {
        "type": kind.value,
        "status": status,
        "reason": FailureClass.INVALID_SPEC.value,
        "message": cut(f"{broken.path}: {broken.problem}", MESSAGE_MAX),
        "lastTransitionTime": format_time(now),
        "observedGeneration": broken.generation,
    }
