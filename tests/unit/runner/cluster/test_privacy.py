"""References instead of texts: in status and in the termination message."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from skerry_api.phases import OutcomeClass, QuestionType
from skerry_api.privacy import Privacy
from skerry_api.report import Outcome, Progress, Question, TerminationReport, TodoProgress, TodoStatus, Usage
from skerry_runner.cluster.environment import Identity
from skerry_runner.cluster.privacy import by_reference
from skerry_runner.cluster.report import Report, seed
from skerry_runner.cluster.view import view_of
from skerry_runner.ports import RunResult

SECRETS = (
    "planted-answer",
    "planted-question",
    "planted-context",
    "planted-option",
    "planted-title",
    "planted-todo",
)
QUESTION = Question(
    id="q-1", type=QuestionType.SUGGESTION, text="planted-question ü", context="planted-context", options=("planted-option",)
)  # fmt: skip
PROGRESS = Progress(
    turn=2,
    title="planted-title",
    todos=(TodoProgress(content="planted-todo", status=TodoStatus.PENDING),),
)
ENDED = RunResult(
    outcome=Outcome(class_=OutcomeClass.SUCCEEDED),
    answer="planted-answer",
    answer_id="m-1",
    progress=PROGRESS,
    question=QUESTION,
)


def start(privacy: Privacy) -> Report:
    return seed(view_of({}), Identity("ns", "r", 1, pod_uid="pod", node="n1"), privacy)


@pytest.mark.parametrize(
    "report",
    [
        lambda privacy: start(privacy).counted(PROGRESS, Usage()).awaiting(QUESTION),
        lambda privacy: start(privacy).ended(ENDED),
    ],
    ids=["on the way", "at the end"],
)
def test_no_text_stands_in_status(report: object) -> None:
    assert callable(report)
    full, private = (json.dumps(report(each).wire()) for each in (Privacy.FULL, Privacy.REFERENCES))
    assert [each for each in SECRETS if each in private] == []
    assert "planted-question" in full
    runner = json.loads(private)["runner"]
    assert runner["question"] == {
        "id": "q-1", "type": "Suggestion", "textRef": {"size": 19, "event": "question", "id": "q-1"}, "options": [],
    }  # fmt: skip
    assert runner["progress"] == {"turn": 2, "modelCalls": 0, "toolCalls": 0}


def test_the_answer_is_referred_to_with_its_size() -> None:
    runner = start(Privacy.REFERENCES).ended(ENDED).wire()["runner"]
    assert runner["answerRef"] == {"size": 14, "event": "model.response", "id": "m-1"}
    assert "answer" not in runner
    assert start(Privacy.FULL).ended(ENDED).wire()["runner"]["answer"] == "planted-answer"


def test_without_texts_there_are_no_references() -> None:
    runner = start(Privacy.REFERENCES).counted(Progress(), Usage()).wire()["runner"]
    assert not {"answer", "answerRef", "question"} & set(runner)


def test_a_termination_message_is_treated_alike_and_twice_is_once() -> None:
    told = TerminationReport(
        run_uid="u", epoch=1, outcome=ENDED.outcome, progress=PROGRESS, question=QUESTION, answer=ENDED.answer
    )
    private = by_reference(told, "m-1")
    assert private.answer_ref is not None
    assert private.answer_ref.id == "m-1"
    text = private.model_dump_json(by_alias=True, exclude_none=True)
    assert [each for each in SECRETS if each in text] == []
    assert by_reference(private) == private


@pytest.mark.parametrize(("id_", "told"), [(None, None), ("m" * 256, "m" * 256), ("m" * 257, None)])
def test_an_id_that_does_not_fit_is_left_out(id_: str | None, told: str | None) -> None:
    ref = start(Privacy.REFERENCES).ended(replace(ENDED, answer_id=id_)).wire()["runner"]["answerRef"]
    assert ref.get("id") == told
