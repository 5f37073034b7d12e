"""Texts out of status, where the profile wants references only. Pure."""

from __future__ import annotations

from typing import TypeVar

from skerry_api.privacy import TextRef
from skerry_api.report import Progress, Question, RunnerStatus, TerminationReport

__all__ = ["by_reference"]

Told = TypeVar("Told", RunnerStatus, TerminationReport)


def by_reference(told: Told) -> Told:
    """The same without the texts of question, answer, title and todos. What is there already by reference stays."""
    answer, question, progress = told.answer, told.question, told.progress
    ref = told.answer_ref if answer is None else _ref(answer, "model.response")
    return told.model_copy(
        update={
            "answer": None,
            "answer_ref": ref,
            "question": question and _question(question),
            "progress": progress and _progress(progress),
        }
    )


def _question(question: Question) -> Question:
    ref = question.text_ref if question.text is None else _ref(question.text, "question")
    return Question(id=question.id, type=question.type, text_ref=ref)


def _progress(progress: Progress) -> Progress:
    return progress.model_copy(update={"title": None, "todos": None})


def _ref(text: str, event: str) -> TextRef:
    return TextRef(size=len(text.encode()), event=event)
