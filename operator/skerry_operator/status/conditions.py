"""Conditions as metav1 has them: a transition time moves only when the status does."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from skerry_api.common import Condition

__all__ = ["MESSAGE_MAX", "ConditionStatus", "Wanted", "condition", "merge"]

MESSAGE_MAX = 2048
ConditionStatus = Literal["True", "False", "Unknown"]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A condition without the bookkeeping."""

    type: str
    status: ConditionStatus
    reason: str
    message: str = ""


def condition(conditions: Iterable[Condition], kind: str) -> Condition | None:
    return next((each for each in conditions if each.type == kind), None)


def merge(
    old: tuple[Condition, ...], wanted: Iterable[Wanted], generation: int, now: datetime
) -> tuple[Condition, ...]:
    """The wanted conditions in their order; each keeps its transition time while its status stays."""
    merged = []
    for each in wanted:
        before = condition(old, each.type)
        kept = before is not None and before.status == each.status
        merged.append(
            Condition(
                type=each.type,
                status=each.status,
                reason=each.reason,
                message=cut(each.message, MESSAGE_MAX),
                last_transition_time=before.last_transition_time if before is not None and kept else now,
                observed_generation=generation,
            )
        )
    return tuple(merged)


def cut(text: str, most: int) -> str:
    """At most so many characters; an ellipsis says that something is missing."""
    return text if len(text) <= most else text[: most - 1] + "…"
