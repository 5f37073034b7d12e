"""`skerry answer`: an answer into spec.answers of a run in a cluster, with the user's own rights."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from skerry_api.agentrun import Answer
from skerry_api.phases import TERMINAL
from skerry_api.report import Question
from skerry_cli.asking import question_text
from skerry_cli.kubectl import Kubectl, KubectlError, find_kubectl

__all__ = ["CannotAnswer", "Given", "answer", "choose", "patch_of", "send"]

Json = dict[str, Any]
BAD_INPUT = 2
TRIES = 5
"""Somebody else may write the run at the same time: the patch is made for what was read."""


class CannotAnswer(Exception):
    """There is nothing to answer, or no answer; the message is for people."""


@dataclass(frozen=True)
class Given:
    """What the user said: a text, or the number of an option; `question` where it is not the open one."""

    text: str | None = None
    option: int | None = None
    question: str | None = None


def answer(name: str, given: Given, namespace: str | None, context: str | None) -> int:
    """Answer the run's open question; 0, or 2 when that can't be."""
    try:
        kubectl = Kubectl(find_kubectl(os.environ), namespace, context)
        ask = _prompt if sys.stdin.isatty() else None
        made = asyncio.run(send(kubectl, name, given, ask))
    except (KubectlError, CannotAnswer) as error:
        print(f"skerry: {error}", file=sys.stderr)
        return BAD_INPUT
    except (KeyboardInterrupt, EOFError):
        return 130
    print(f"question {made.question_id} of {name} is answered: {made.text}")
    return 0


def _prompt(question: Question) -> str:
    print(question_text(question), file=sys.stderr)
    number = f" (text, or 1 to {len(question.options)})" if question.options else ""
    print(f"Answer{number}: ", end="", file=sys.stderr, flush=True)
    said = input().strip()
    if said.isdecimal() and 1 <= int(said) <= len(question.options):
        return question.options[int(said) - 1]
    return said


async def send(
    kubectl: Kubectl, name: str, given: Given, ask: Callable[[Question], str] | None = None
) -> Answer:
    """Write the answer. `ask` has the user say it where `given` does not.

    Raises:
        CannotAnswer: nothing is asked, or it is answered already, or there is no answer.
        KubectlError: the run can't be read, or the API server refuses the answer.
    """
    chosen: Answer | None = None
    for left in reversed(range(TRIES)):
        run = await kubectl.json("get", "agentrun", name)
        if chosen is None:
            # Once: a person is not asked again because somebody else wrote meanwhile.
            chosen = await asyncio.to_thread(choose, run, given, ask)
        patch = json.dumps(patch_of(run, chosen))
        try:
            await kubectl.json("patch", "agentrun", name, "--type=json", f"--patch={patch}")
        except KubectlError as error:
            if left == 0 or not _moved_on(str(error)):
                raise
        else:
            return chosen
    raise AssertionError("the last try returns or raises")


def _moved_on(words: str) -> bool:
    return "test operation" in words or "testing path" in words or "the object has been modified" in words


def choose(run: Json, given: Given, ask: Callable[[Question], str] | None) -> Answer:
    """The answer to write. Raises CannotAnswer."""
    asked = _open_question(run, given)
    if given.text is not None:
        text = given.text
    elif given.option is not None and asked is not None:
        text = _option(asked, given.option)
    elif asked is not None and ask is not None:
        text = ask(asked)
    else:
        shown = f"\n{question_text(asked)}" if asked else ""
        raise CannotAnswer(f"no answer: give --text or --option{shown}")
    try:
        return Answer(question_id=asked.id if asked else str(given.question), text=text)
    except ValidationError as error:
        fault = error.errors()[0]
        raise CannotAnswer(f"{fault['loc'][0]}: {fault['msg']}") from None


def _open_question(run: Json, given: Given) -> Question | None:
    """The question to answer; None for one that is named and not asked yet."""
    name, status = run["metadata"]["name"], run.get("status", {})
    phase = status.get("phase", "not started yet")
    if phase in TERMINAL:
        raise CannotAnswer(f"run {name} is over: {phase}")
    raw = (status.get("runner") or {}).get("question")
    asked = Question.model_validate(raw) if raw else None
    wanted = given.question or (asked.id if asked else None)
    if wanted is None:
        raise CannotAnswer(f"run {name} asks nothing now: it is {phase}")
    if any(each["questionId"] == wanted for each in run["spec"].get("answers", ())):
        raise CannotAnswer(f"question {wanted} of run {name} is answered already")
    return asked if asked is not None and asked.id == wanted else None


def _option(question: Question, number: int) -> str:
    if not 1 <= number <= len(question.options):
        most = len(question.options)
        offered = f"options 1 to {most}" if most else "no options"
        if question.text is None:
            offered = "its options in the journal alone: give --text"
        raise CannotAnswer(f"question {question.id} has {offered}")
    return question.options[number - 1]


def patch_of(run: Json, answer: Answer) -> list[Json]:
    """JSON patch that adds the answer to the run as it was read, and to nothing newer."""
    version = run["metadata"]["resourceVersion"]
    entry = answer.wire()
    listed = "answers" in run["spec"]
    return [
        {"op": "test", "path": "/metadata/resourceVersion", "value": version},
        {"op": "add", "path": "/spec/answers/-", "value": entry}
        if listed
        else {"op": "add", "path": "/spec/answers", "value": [entry]},
    ]
