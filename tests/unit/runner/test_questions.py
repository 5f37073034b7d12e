"""Which call asks a question, under which id, and which calls stand behind it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from skerry_api.phases import QuestionType
from skerry_api.report import QUESTION_CONTEXT_MAX, QUESTION_ID_MAX, QUESTION_MAX
from skerry_runner.questions import ASK, BadQuestion, comes_after_question, question_id, question_of


def call(name: str, id_: str, **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args, "id": id_, "type": "tool_call"}


def said(*calls: dict[str, Any], id_: str = "m1") -> AIMessage:
    return AIMessage(content="", tool_calls=list(calls), id=id_)


def ask(id_: str, question: Any = "Which?") -> dict[str, Any]:
    return call(ASK, id_, question=question)


def test_an_id_is_of_run_message_and_place() -> None:
    ids = {
        question_id(run, message, index) for run in ("r1", "r2") for message in ("m", "n") for index in (0, 1)
    }
    assert len(ids) == 8
    assert question_id("r1", "m", 0) in ids
    assert {len(id_) for id_ in ids} == {18}
    assert max(map(len, ids)) <= QUESTION_ID_MAX


def test_a_whole_question() -> None:
    found = question_of(
        {
            "question": " Which? ",
            "clarification_type": "approach_choice",
            "context": "Two ways.",
            "options": '["a", "b"]',
        },
        "q-1",
    )
    assert found.wire() == {
        "id": "q-1", "type": "ApproachChoice", "text": "Which?", "context": "Two ways.", "options": ["a", "b"],
    }  # fmt: skip


@pytest.mark.parametrize("kind", [None, "", "nonsense", 5, ["missing_info"]])
def test_any_other_type_is_missing_info(kind: Any) -> None:
    assert question_of({"question": "?", "clarification_type": kind}).type is QuestionType.MISSING_INFO


@pytest.mark.parametrize(
    "args", [{}, {"question": None}, {"question": "  "}, {"question": ["a"]}, {"question": 3}]
)
def test_without_a_text_it_is_none(args: dict[str, Any]) -> None:
    with pytest.raises(BadQuestion, match="question"):
        question_of(args)


def test_long_texts_are_cut() -> None:
    found = question_of({"question": "q" * 9999, "context": "c" * 9999})
    assert found.text is not None
    assert (len(found.text), len(found.context or "")) == (QUESTION_MAX, QUESTION_CONTEXT_MAX)
    assert found.text.endswith("…")


BASH, LS, OTHER = call("bash", "b"), call("ls", "l"), ask("q2")
MIXED = said(BASH, ask("q"), LS, OTHER)


@pytest.mark.parametrize(
    ("id_", "behind"), [("b", False), ("q", False), ("l", True), ("q2", True), ("?", False)]
)
def test_what_stands_behind_a_question(id_: str, behind: bool) -> None:
    assert comes_after_question([HumanMessage("x"), MIXED], id_) is behind


def test_only_the_newest_message_that_makes_the_call_counts() -> None:
    later: list[AnyMessage] = [MIXED, ToolMessage("", tool_call_id="l"), said(LS, ask("q3"), id_="m2")]
    assert not comes_after_question(later, "l")
    assert comes_after_question(later, "q2")


def test_a_question_that_asks_nothing_stops_nobody() -> None:
    assert not comes_after_question([said(ask("q", " "), LS)], "l")
