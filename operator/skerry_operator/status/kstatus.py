"""What kstatus and `kubectl wait` read from a run: four conditions for every phase.

In progress: Reconciling. Failed, or stuck until somebody acts: Stalled. Else current, and Ready says how.
"""

from __future__ import annotations

from typing import assert_never

from skerry_api.phases import ConditionType, RunPhase
from skerry_operator.status.conditions import ConditionStatus, Wanted

__all__ = ["run_conditions"]

# Ready, Reconciling, Stalled, Succeeded
_Row = tuple[ConditionStatus, ConditionStatus, ConditionStatus, ConditionStatus]
_IN_PROGRESS: _Row = ("False", "True", "False", "Unknown")
_BLOCKED: _Row = ("False", "False", "True", "Unknown")
_RUNNING: _Row = (
    "True",
    "False",
    "False",
    "Unknown",
)  # as a started Job: a Git sync waits for the start only
_SUCCEEDED: _Row = ("True", "False", "False", "True")
_FAILED: _Row = ("False", "False", "True", "False")
_CANCELLED: _Row = ("True", "False", "False", "False")  # kstatus takes Ready False for in progress, for ever
_TYPES = (ConditionType.READY, ConditionType.RECONCILING, ConditionType.STALLED, ConditionType.SUCCEEDED)


def run_conditions(
    phase: RunPhase, reason: str, message: str, *, blocked: bool = False, settling: bool = False
) -> list[Wanted]:
    """`blocked`: waits for somebody to act. `settling`: Running, but on the way to something else."""
    row = _row(phase, blocked=blocked, settling=settling)
    return [Wanted(kind.value, status, reason, message) for kind, status in zip(_TYPES, row, strict=True)]


def _row(phase: RunPhase, *, blocked: bool, settling: bool) -> _Row:
    match phase:
        case RunPhase.PENDING | RunPhase.QUEUED | RunPhase.PROVISIONING:
            return _BLOCKED if blocked else _IN_PROGRESS
        case RunPhase.RUNNING:
            return _IN_PROGRESS if settling else _RUNNING
        case RunPhase.AWAITING_INPUT:
            return _RUNNING  # current, as Running is: what it waits for is a person
        case RunPhase.SUCCEEDED:
            return _SUCCEEDED
        case RunPhase.FAILED | RunPhase.TIMED_OUT:
            return _FAILED
        case RunPhase.CANCELLED:
            return _CANCELLED
        case _:
            assert_never(phase)
