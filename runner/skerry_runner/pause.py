"""The question at which the graph stands, as LangGraph tells it. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from langgraph.types import Interrupt
from pydantic import ValidationError

from skerry_api.report import Question
from skerry_runner.outcome import RunEnded, app_error

__all__ = ["Paused", "Pending", "open_question"]


class Paused(Exception):
    """The run waits for an answer that another epoch will get."""

    def __init__(self, question: Question) -> None:
        super().__init__(question.id)
        self.question = question


@dataclass(frozen=True)
class Pending:
    """A question and the interrupt that its answer resumes."""

    interrupt: str
    question: Question


def open_question(interrupts: Sequence[Interrupt]) -> Pending | None:
    """The question among the graph's interrupts; RunGate lets at most one come up.

    Raises:
        RunEnded: something else interrupted the run (a middleware of the user's own), which nobody could answer.
    """
    for interrupt in interrupts:
        try:
            return Pending(interrupt.id, Question.model_validate(interrupt.value))
        except ValidationError:
            words = "a middleware or tool interrupted the run with something that is no question"
            raise RunEnded(app_error("UnknownInterrupt", words)) from None
    return None
