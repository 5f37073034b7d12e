from __future__ import annotations

import json
from pathlib import Path

import pytest

from skerry_api.phases import OutcomeClass
from skerry_api.report import (
    JOURNAL_FAULT_MAX,
    TERMINATION_MAX,
    TODO_MAX,
    TODOS_MAX,
    Outcome,
    Progress,
    RunArtifact,
    TerminationReport,
    TodoProgress,
    TodoStatus,
    Usage,
)
from skerry_runner.cluster.termination import termination_message, write_termination_message


def report(answer: str | None = None, message: str = "", endpoint: str | None = None) -> TerminationReport:
    outcome = Outcome(class_=OutcomeClass.MODEL_ERROR, reason="Quota", message=message, endpoint=endpoint)
    return TerminationReport(run_uid="u", epoch=3, outcome=outcome, usage=Usage(input=1), answer=answer)


def test_a_short_report_goes_whole() -> None:
    message = termination_message(report("fine", "because"))
    assert TerminationReport.model_validate_json(message) == report("fine", "because")
    assert json.loads(message)["runUID"] == "u"


def test_todos_go_before_the_answer_is_cut() -> None:
    todo = TodoProgress(content="x" * TODO_MAX, status=TodoStatus.PENDING)
    progress = Progress(turn=2, todos=(todo,) * TODOS_MAX)
    whole = report("a" * 3000, "because")
    message = termination_message(whole.model_copy(update={"progress": progress}))
    assert TerminationReport.model_validate_json(message) == whole.model_copy(
        update={"progress": Progress(turn=2)}
    )
    few = whole.model_copy(update={"progress": Progress(turn=2, todos=(todo,))})
    assert TerminationReport.model_validate_json(termination_message(few)) == few


@pytest.mark.parametrize("letter", ["a", "é", "🦉", '"', "\n", "\x01"])
def test_the_answer_is_cut_first(letter: str) -> None:
    message = termination_message(report(letter * 8000, "kept whole", "http://m"))
    read = TerminationReport.model_validate_json(message)
    assert len(message.encode()) <= TERMINATION_MAX
    assert read.outcome == report("", "kept whole", "http://m").outcome
    assert read.answer is None or set(read.answer) == {letter}


def test_a_plain_answer_is_cut_no_further_than_needed() -> None:
    assert len(termination_message(report("a" * 8000)).encode()) == TERMINATION_MAX


@pytest.mark.parametrize("letter", ["m", "🦉", "\\"])
def test_then_message_and_endpoint(letter: str) -> None:
    message = termination_message(report(letter * 2048, letter * 2048, "http://" + "e" * 2000))
    read = TerminationReport.model_validate_json(message)
    assert len(message.encode()) <= TERMINATION_MAX
    assert read.answer is None
    assert read.outcome.class_ is OutcomeClass.MODEL_ERROR


def test_a_place_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    write_termination_message(tmp_path / "none" / "log", report("x"))
    write_termination_message(tmp_path / "log", report("x"))
    assert TerminationReport.model_validate_json((tmp_path / "log").read_text()) == report("x")


def test_the_newest_artifacts_go_along_as_far_as_they_fit() -> None:
    made = tuple(
        RunArtifact(path=f"/mnt/{n}/{'x' * 300}", size=n, media_type="text/plain", available=True)
        for n in range(20)
    )
    whole = report("fine").model_copy(update={"artifacts": made})
    message = termination_message(whole)
    read = TerminationReport.model_validate_json(message)
    assert len(message.encode()) <= TERMINATION_MAX
    assert read.answer == "fine"
    assert read.artifacts
    assert read.artifacts == made[-len(read.artifacts) :]
    few = report("fine").model_copy(update={"artifacts": made[:2]})
    assert TerminationReport.model_validate_json(termination_message(few)) == few


@pytest.mark.parametrize("letter", ["f", "🦉", "\x01"])
def test_the_journal_s_fault_goes_along_and_is_cut_before_the_outcome(letter: str) -> None:
    fault = letter * JOURNAL_FAULT_MAX
    few = report("fine").model_copy(update={"journal_fault": "full"})
    assert TerminationReport.model_validate_json(termination_message(few)) == few
    for words in ("because", "m" * 2048):
        message = termination_message(report("a" * 8000, words).model_copy(update={"journal_fault": fault}))
        read = TerminationReport.model_validate_json(message)
        assert len(message.encode()) <= TERMINATION_MAX
        assert read.outcome.message == words
        # What JSON writes in six bytes may have to go whole.
        assert set(read.journal_fault or "") == (set() if letter == "\x01" and len(words) > 99 else {letter})
