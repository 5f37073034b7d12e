"""Texts out of status, where the profile wants references only. Pure."""

from __future__ import annotations

from typing import TypeVar

from skerry_api.privacy import TEXT_ID_MAX, TextRef
from skerry_api.report import Progress, Question, RunnerStatus, TerminationReport

__all__ = ["by_reference"]

Told = TypeVar("Told", RunnerStatus, TerminationReport)


def by_reference(told: Told, answer_id: str | None = None) -> Told:
    """The same without the texts of question, answer, title and todos. What is there already by reference stays.

    `answer_id`: the `id` of the journal's line that has the answer.
    """
    answer, question, progress = told.answer, told.question, told.progress
    ref = told.answer_ref if answer is None else _ref(answer, "model.response", answer_id)
    return told.model_copy(
        update={
            "answer": None,
            "answer_ref": ref,
            "question": question and _question(question),
            "progress": progress and _progress(progress),
        }
    )


def _question(question: Question) -> Question:
    ref = question.text_ref if question.text is None else _ref(question.text, "question", question.id)
    return Question(id=question.id, type=question.type, text_ref=ref)


def _progress(progress: Progress) -> Progress:
    return progress.model_copy(update={"title": None, "todos": None})


def _ref(text: str, event: str, id_: str | None) -> TextRef:
    # Messages' ids are providers' words: half of one would find nothing.
    named = id_ if id_ is not None and len(id_) <= TEXT_ID_MAX else None
    return TextRef(size=len(text.encode()), event=event, id=named)
