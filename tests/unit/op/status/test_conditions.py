"""Transition times, messages, and what kstatus reads from every phase."""

from __future__ import annotations

import pytest

from skerry_api.phases import TERMINAL, RunPhase
from skerry_operator.status.conditions import MESSAGE_MAX, ConditionStatus, Wanted, condition, cut, merge
from skerry_operator.status.kstatus import run_conditions
from skerry_testing.plans import NOW, after


def wanted(status: ConditionStatus, reason: str = "R") -> list[Wanted]:
    return [Wanted("Ready", status, reason, "m")]


def test_the_time_moves_only_with_the_status() -> None:
    first = merge((), wanted("False"), 1, NOW)
    same = merge(first, wanted("False", "Other"), 2, after(5))
    assert (same[0].last_transition_time, same[0].reason, same[0].observed_generation) == (NOW, "Other", 2)
    moved = merge(same, wanted("True"), 2, after(9))
    assert moved[0].last_transition_time == after(9)


def test_what_is_no_longer_wanted_goes() -> None:
    first = merge((), [*wanted("True"), Wanted("Stalled", "False", "R")], 1, NOW)
    assert [each.type for each in merge(first, wanted("True"), 1, NOW)] == ["Ready"]
    assert condition(first, "Stalled") is not None
    assert condition(first, "None") is None


def test_long_messages_are_cut_where_the_schema_would_refuse() -> None:
    made = merge((), [Wanted("Ready", "True", "R", "x" * 5000)], 1, NOW)
    assert len(made[0].message) == MESSAGE_MAX
    assert made[0].message.endswith("…")
    assert cut("abc", 3) == "abc"


def kstatus(phase: RunPhase, *, blocked: bool = False, settling: bool = False) -> str:
    """As kstatus computes it: Stalled, then Reconciling, then Ready."""
    row = {
        each.type: each.status for each in run_conditions(phase, "R", "", blocked=blocked, settling=settling)
    }
    if row["Stalled"] == "True":
        return "Failed"
    return "InProgress" if row["Reconciling"] == "True" or row["Ready"] != "True" else "Current"


@pytest.mark.parametrize(
    ("phase", "verdict", "succeeded"),
    [
        (RunPhase.PENDING, "InProgress", "Unknown"),
        (RunPhase.QUEUED, "InProgress", "Unknown"),
        (RunPhase.PROVISIONING, "InProgress", "Unknown"),
        (RunPhase.RUNNING, "Current", "Unknown"),
        (RunPhase.AWAITING_INPUT, "Current", "Unknown"),
        (RunPhase.SUCCEEDED, "Current", "True"),
        (RunPhase.FAILED, "Failed", "False"),
        (RunPhase.TIMED_OUT, "Failed", "False"),
        (RunPhase.CANCELLED, "Current", "False"),
    ],
)
def test_kstatus(phase: RunPhase, verdict: str, succeeded: str) -> None:
    assert kstatus(phase) == verdict
    rows = {each.type: each.status for each in run_conditions(phase, "R", "")}
    assert list(rows) == ["Ready", "Reconciling", "Stalled", "Succeeded"]
    assert rows["Succeeded"] == succeeded


def test_waiting_for_somebody_is_failed_and_settling_is_in_progress() -> None:
    assert kstatus(RunPhase.PENDING, blocked=True) == "Failed"
    assert kstatus(RunPhase.RUNNING, settling=True) == "InProgress"


def test_every_phase_has_a_row() -> None:
    assert all(len(run_conditions(phase, "R", "")) == 4 for phase in RunPhase)
    current = {phase for phase in RunPhase if kstatus(phase) != "InProgress"}
    assert current == TERMINAL | {RunPhase.RUNNING, RunPhase.AWAITING_INPUT}
