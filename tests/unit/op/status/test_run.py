"""The next status of a run: transitions, times, what is written and what is not."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from skerry_api.agentrun import RUNNER_FIELDS, AgentRunStatus
from skerry_api.phases import TERMINAL, TRANSITIONS, FailureClass, RunPhase, may_follow
from skerry_operator.plan.facts import RunFacts, read_facts
from skerry_operator.plan.run import plan_run
from skerry_operator.plan.verdict import Verdict
from skerry_operator.status.run import IllegalTransitionError, next_status, operator_set
from skerry_testing.planrun import RUNNING, report, see
from skerry_testing.plans import NOW, SETTINGS, a_pod, a_run, after, running

Json = dict[str, Any]
PHASES = Path(__file__).parents[4] / "docs" / "reference" / "phases.md"
PAIRS = list(itertools.product([None, *RunPhase], RunPhase))


def facts(phase: RunPhase | None, **status: Any) -> RunFacts:
    run = a_run(status={"phase": phase, **status} if phase else status)
    return read_facts(see(run, a_pod()), run, NOW, SETTINGS)


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_no_phase_follows_another_that_it_may_not(old: RunPhase | None, new: RunPhase) -> None:
    failure = FailureClass.APP_ERROR if new in {RunPhase.FAILED, RunPhase.TIMED_OUT} else None
    verdict = Verdict(new, "R", failure=failure)
    if may_follow(old, new):
        assert next_status(facts(old), verdict)[0].phase is new
    else:
        with pytest.raises(IllegalTransitionError):
            next_status(facts(old), verdict)


@pytest.mark.parametrize("ended", sorted(TERMINAL))
def test_terminal_phases_absorb(ended: RunPhase) -> None:
    assert [new for new in RunPhase if may_follow(ended, new)] == [ended]
    status = RUNNING | {
        "phase": ended,
        "completionTime": "2026-01-01T12:00:00Z",
        "runner": report("Succeeded"),
    }
    for pods in ([], [a_pod(state=running)], [a_pod(phase="Pending")]):
        assert plan_run(see(a_run(status=status, cancel=True), *pods), after(5), SETTINGS).status is None


def test_the_documented_table_is_the_one_in_force() -> None:
    """docs/reference/phases.md has a row per phase and a column per phase; ● where one may follow the other."""
    lines = [line for line in PHASES.read_text().splitlines() if line.startswith("| ")]
    start = next(n for n, line in enumerate(lines) if line.startswith("| from ＼ to"))
    names = [cell.strip() for cell in lines[start].strip("|").split("|")][1:]
    assert names == [phase.value for phase in RunPhase]
    for line in lines[start + 1 : start + 1 + len(names)]:
        old, *marks = (cell.strip() for cell in line.strip("|").split("|"))
        told = {RunPhase(name) for name, mark in zip(names, marks, strict=True) if mark}
        assert told == TRANSITIONS[RunPhase(old)]


def test_the_operators_set_has_no_field_of_the_runner() -> None:
    status = AgentRunStatus.model_validate(RUNNING | {"sandboxId": "s", "runner": report("Succeeded")})
    assert not RUNNER_FIELDS & operator_set(status).keys()
    assert set(operator_set(status)) == set(status.wire()) - RUNNER_FIELDS


def test_planning_again_in_the_same_world_says_the_same_and_in_the_next_one_nothing() -> None:
    observed = see(a_run(), a_pod(phase="Pending"))
    first = plan_run(observed, NOW, SETTINGS)
    assert plan_run(observed, NOW, SETTINGS) == first
    assert first.status is not None
    written = see(a_run(status=first.status), a_pod(phase="Pending"))
    for seconds in (0, 1, 300):
        assert plan_run(written, after(seconds), SETTINGS).status is None


def test_a_new_generation_is_said_at_once() -> None:
    first = plan_run(see(a_run(), a_pod(state=running)), NOW, SETTINGS)
    assert first.status is not None
    run = a_run(status=first.status, meta={"generation": 2}, ttlSecondsAfterFinished=9)
    status = plan_run(see(run, a_pod(state=running)), after(1), SETTINGS).status
    assert status is not None
    assert status["observedGeneration"] == 2
    assert {each["observedGeneration"] for each in status["conditions"]} == {2}
    assert {each["lastTransitionTime"] for each in status["conditions"]} == {"2026-01-01T12:00:00Z"}


def test_times_are_kept_once_written() -> None:
    status = plan_run(
        see(a_run(status=RUNNING | {"runner": report("Succeeded")})), after(60), SETTINGS
    ).status
    assert status is not None
    assert (status["startTime"], status["runningTime"], status["completionTime"]) == (
        "2026-01-01T12:00:00Z", "2026-01-01T12:00:00Z", "2026-01-01T12:01:00Z",
    )  # fmt: skip


FAULT = "journal.jsonl can't be written: No space left on device"
EPOCH_TIME = RUNNING["epochTime"]


def journal_condition(
    fault: str | None, *, epoch: int = 1, before: str | None = None
) -> tuple[str, str] | None:
    """(status, message) after the runner of epoch 1 said `fault`; `before`: when the condition was raised first."""
    conditions = [
        {"type": "JournalComplete", "status": "False", "reason": "JournalUnwritable", "message": "older",
         "lastTransitionTime": before, "observedGeneration": 1}
    ]  # fmt: skip
    runner: Json = {"epoch": epoch, "podUID": "pod-run-1"} | ({"journalFault": fault} if fault else {})
    status = RUNNING | {"runner": runner, "conditions": conditions if before else []}
    run = a_run(status=status)
    f = read_facts(see(run, a_pod(state=running)), run, NOW, SETTINGS)
    made, _ = next_status(f, Verdict(RunPhase.RUNNING, "Running"))
    found = [each for each in made.conditions if each.type == "JournalComplete"]
    return (found[0].status, found[0].message) if found else None


def test_a_gap_in_the_journal_is_a_condition() -> None:
    assert journal_condition(None) is None
    assert journal_condition(FAULT) == ("False", FAULT)
    assert journal_condition(FAULT, before=EPOCH_TIME) == ("False", FAULT)


def test_an_epoch_may_mend_its_own_gap_and_no_older_one() -> None:
    assert journal_condition(None, before=EPOCH_TIME) is None
    assert journal_condition(None, before="2025-12-31T00:00:00Z") == ("False", "older")
    # A report of another epoch says nothing of this one.
    assert journal_condition(None, epoch=9, before=EPOCH_TIME) == ("False", "older")
    assert journal_condition(FAULT, epoch=9) is None
