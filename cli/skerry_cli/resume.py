"""`skerry run --answer`: the run of the thread that stopped with a question, with the answer in its spec."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pydantic import ValidationError

from skerry_api.agentrun import Answer
from skerry_api.problems import Problem
from skerry_runner.local.assignment import Assignment
from skerry_runner.local.openquestion import OpenQuestion, open_question
from skerry_runner.local.yamldoc import FileProblem

__all__ = ["Resumed", "resumed"]

Reassign = Callable[[str, int], Assignment | list[FileProblem]]
"""The assignment of the same files under another UID, in another epoch."""


class Resumed:
    """An assignment that goes on from a question."""

    def __init__(self, assignment: Assignment, asked: OpenQuestion) -> None:
        self.assignment, self.asked = assignment, asked


def resumed(text: str, folder: Path, assignment: Assignment, again: Reassign) -> Resumed | list[FileProblem]:
    """What is to be carried out with the answer `text`, or why it can't be."""
    if assignment.run.spec.thread_id is None:
        return _refused("which thread? Give --thread THREAD, or spec.threadId in the run")
    asked = open_question(folder)
    if asked is None:
        return _refused(f"thread {assignment.document.thread_id} has no open question")
    try:
        answer = Answer(question_id=asked.question.id, text=text)
    except ValidationError as error:
        return _refused(str(error.errors()[0]["msg"]))
    made = again(asked.run, asked.epoch + 1)
    if not isinstance(made, Assignment):
        return made
    spec = made.run.spec
    others = tuple(each for each in spec.answers if each.question_id != answer.question_id)
    run = made.run.model_copy(update={"spec": spec.model_copy(update={"answers": (*others, answer)})})
    return Resumed(replace(made, run=run), asked)


def _refused(words: str) -> list[FileProblem]:
    return [FileProblem("--answer", None, "", Problem("", words))]
