"""A question of an agent as a person reads it. Pure."""

from __future__ import annotations

from skerry_api.report import Question

__all__ = ["question_text"]


def question_text(question: Question) -> str:
    """Text, context and numbered options; control characters of the model's do not reach the terminal."""
    if question.text is None:
        return f"Question {question.id} ({question.type}): its text stands in the run's journal alone; see skerry watch"
    lines = [question.text]
    if question.context:
        lines += ["", question.context]
    if question.options:
        lines += ["", *(f"  {number}. {option}" for number, option in enumerate(question.options, 1))]
    return "\n".join(map(_printable, "\n".join(lines).splitlines()))


def _printable(line: str) -> str:
    return "".join(letter if letter.isprintable() or letter == "\t" else "·" for letter in line)
