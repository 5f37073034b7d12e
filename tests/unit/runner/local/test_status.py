from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.document import RunDocument
from skerry_api.phases import TERMINAL, OutcomeClass, RunPhase, StopReason
from skerry_api.report import Outcome, Progress
from skerry_api.resolve import resolve
from skerry_operator.status.kstatus import run_conditions
from skerry_operator.status.reasons import Reason
from skerry_runner.local.assignment import Assignment
from skerry_runner.local.status import JOURNAL_UNWRITABLE, Times, end_of, ended, with_journal_fault
from skerry_runner.ports import RunResult

STARTED = datetime(2026, 1, 2, tzinfo=UTC)
TIMES = Times(STARTED, STARTED + timedelta(seconds=9))


def assignment() -> Assignment:
    meta = {"name": "x", "namespace": "ns", "uid": "u", "generation": 1}
    base = {"apiVersion": "skerry.dev/v1alpha1", "metadata": meta}
    run = AgentRun.read(base | {"kind": "AgentRun", "spec": {"profileRef": {"name": "x"}, "prompt": "p"}})
    spec = {"model": {"name": "scripted", "script": "steps: []"}}
    profile = AgentProfile.read(base | {"kind": "AgentProfile", "spec": spec})
    document = resolve(run, profile, {}, epoch=1)
    assert isinstance(document, RunDocument)
    return Assignment(run, profile, document, None)


def result(class_: OutcomeClass, reason: str = "", message: str = "", **fields: object) -> RunResult:
    return RunResult(outcome=Outcome(class_=class_, reason=reason, message=message), **fields)  # type: ignore[arg-type] # as given


@pytest.mark.parametrize(
    ("class_", "timed_out", "phase", "failure"),
    [
        (OutcomeClass.SUCCEEDED, False, RunPhase.SUCCEEDED, None),
        (OutcomeClass.SUCCEEDED, True, RunPhase.SUCCEEDED, None),
        (OutcomeClass.CANCELLED, False, RunPhase.CANCELLED, None),
        (OutcomeClass.INTERRUPTED, False, RunPhase.CANCELLED, None),
        (OutcomeClass.CANCELLED, True, RunPhase.TIMED_OUT, "Timeout"),
        (OutcomeClass.MODEL_ERROR, False, RunPhase.FAILED, "ModelError"),
        (OutcomeClass.APP_ERROR, True, RunPhase.FAILED, "AppError"),
        (OutcomeClass.SANDBOX_LOST, False, RunPhase.FAILED, "SandboxLost"),
        (OutcomeClass.INVALID_SPEC, False, RunPhase.FAILED, "InvalidSpec"),
    ],
)
def test_an_outcome_is_a_phase(
    class_: OutcomeClass, timed_out: bool, phase: RunPhase, failure: str | None
) -> None:
    got, why = end_of(result(class_, "R", "m"), timed_out=timed_out, seconds=7)
    assert (got, why.class_ if why else None) == (phase, failure)


def test_the_status_of_a_success_has_what_it_would_have_in_a_cluster() -> None:
    given = result(
        OutcomeClass.SUCCEEDED, stop_reason=StopReason.END_TURN, answer="a", sandbox_id="sbx-1",
        progress=Progress(turn=2),
    )  # fmt: skip
    status = ended(assignment(), given, TIMES, timed_out=False).wire()["status"]
    assert status.keys() == {
        "observedGeneration", "phase", "stopReason", "conditions", "epoch", "attempts", "threadId", "profile",
        "startTime", "epochTime", "runningTime", "completionTime", "deadline", "sandbox", "sandboxId", "runner",
    }  # fmt: skip
    assert (status["threadId"], status["sandboxId"], status["sandbox"]["state"]) == ("u", "sbx-1", "Released")
    assert (status["completionTime"], status["deadline"]) == ("2026-01-02T00:00:09Z", "2026-01-02T01:00:00Z")
    assert status["runner"]["progress"]["turn"] == 2


def test_a_run_without_sandbox_names_none() -> None:
    status = ended(assignment(), result(OutcomeClass.SUCCEEDED), TIMES, timed_out=False).wire()["status"]
    assert not {"sandbox", "sandboxId", "failure"} & status.keys()


def test_the_words_of_a_failure_are_those_of_a_cluster() -> None:
    status = ended(assignment(), result(OutcomeClass.APP_ERROR, "Why", "so"), TIMES, timed_out=False).status
    assert status.failure is not None
    assert (status.failure.message, status.conditions[0].reason) == ("Why: so", "AppError")


@pytest.mark.parametrize("phase", sorted(TERMINAL))
def test_conditions_are_the_operators(phase: RunPhase) -> None:
    classes = {
        RunPhase.SUCCEEDED: OutcomeClass.SUCCEEDED,
        RunPhase.CANCELLED: OutcomeClass.CANCELLED,
        RunPhase.TIMED_OUT: OutcomeClass.CANCELLED,
        RunPhase.FAILED: OutcomeClass.APP_ERROR,
    }
    timed_out = phase is RunPhase.TIMED_OUT
    status = ended(assignment(), result(classes[phase]), TIMES, timed_out=timed_out).status
    wanted = run_conditions(phase, "", "")
    assert status.phase is phase
    assert [(c.type, c.status) for c in status.conditions] == [(w.type, w.status) for w in wanted]


def test_a_journal_without_a_fault_is_not_spoken_of() -> None:
    done = ended(assignment(), result(OutcomeClass.SUCCEEDED), TIMES, timed_out=False)
    assert with_journal_fault(done, None, STARTED) is done
    assert Reason.JOURNAL_UNWRITABLE.value == JOURNAL_UNWRITABLE
    told = with_journal_fault(done, "f" * 600, STARTED).status
    assert told.runner is not None
    assert told.runner.journal_fault == "f" * 512
    assert len(told.conditions) == len(done.status.conditions) + 1
