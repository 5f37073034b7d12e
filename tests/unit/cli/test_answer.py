"""`skerry answer`: which question, which text, and the patch, against a kubectl that keeps a run in a file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skerry_api.agentrun import Answer
from skerry_api.report import Question
from skerry_cli.answer import CannotAnswer, Given, choose, patch_of, send
from skerry_cli.asking import question_text
from skerry_cli.kubectl import Kubectl, KubectlError

Json = dict[str, Any]
QUESTION: Json = {"id": "q-1", "type": "ApproachChoice", "text": "Which?", "options": ["red", "blue"]}
KUBECTL = """\
import json, pathlib, sys
here = pathlib.Path(sys.argv[1])
arguments = sys.argv[2:]
run = json.loads((here / "run").read_text())
if "patch" in arguments:
    busy = here / "busy"
    if busy.exists():
        busy.unlink()
        run["metadata"]["resourceVersion"] = str(int(run["metadata"]["resourceVersion"]) + 1)
    [given] = [each.partition("=")[2] for each in arguments if each.startswith("--patch=")]
    test, add = json.loads(given)
    if test["value"] != run["metadata"]["resourceVersion"]:
        sys.exit("The request is invalid: the server rejected our request due to an error in our request: testing path /metadata/resourceVersion failed")
    if (here / "refuse").exists():
        sys.exit("spec.answers[0].text: Forbidden")
    if add["path"].endswith("/-"):
        run["spec"]["answers"].append(add["value"])
    else:
        run["spec"]["answers"] = add["value"]
    (here / "run").write_text(json.dumps(run))
print(json.dumps(run))
"""


def a_run(phase: str = "AwaitingInput", question: Json | None = QUESTION, **spec: Any) -> Json:
    runner = {"runner": {"epoch": 1, "podUID": "u", **({"question": question} if question else {})}}
    return {
        "metadata": {"name": "hello", "resourceVersion": "7"},
        "spec": spec,
        "status": {"phase": phase, **runner},
    }


@pytest.fixture
def kubectl(tmp_path: Path) -> Kubectl:
    (tmp_path / "kubectl.py").write_text(KUBECTL)
    (tmp_path / "run").write_text(json.dumps(a_run()))
    return Kubectl((sys.executable, str(tmp_path / "kubectl.py"), str(tmp_path)))


def answers(folder: Path) -> list[Json]:
    found: list[Json] = json.loads((folder / "run").read_text())["spec"].get("answers", [])
    return found


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (Given(text="green"), "green"),
        (Given(text=" as it is "), " as it is "),
        (Given(option=1), "red"),
        (Given(option=2), "blue"),
        (Given(text="x", question="q-1"), "x"),
    ],
)
def test_the_text(given: Given, text: str) -> None:
    assert choose(a_run(), given, None) == Answer(question_id="q-1", text=text)


def test_without_a_text_the_user_is_asked() -> None:
    seen: list[Question] = []

    def ask(question: Question) -> str:
        seen.append(question)
        return "typed"

    assert choose(a_run(), Given(), ask).text == "typed"
    assert [each.id for each in seen] == ["q-1"]


def test_a_question_that_is_not_asked_yet_can_be_answered_by_its_id() -> None:
    assert choose(a_run("Running", None), Given(text="x", question="q-9"), None).question_id == "q-9"


@pytest.mark.parametrize(
    ("run", "given", "words"),
    [
        (a_run("Succeeded"), Given(text="x"), "run hello is over: Succeeded"),
        (a_run("Running", None), Given(text="x"), "asks nothing now: it is Running"),
        ({"metadata": {"name": "hello"}, "spec": {}}, Given(text="x"), "not started yet"),
        (a_run(answers=[{"questionId": "q-1", "text": "y"}]), Given(text="x"), "answered already"),
        (a_run(), Given(option=3), "options 1 to 2"),
        (a_run(), Given(option=0), "options 1 to 2"),
        (a_run(question={**QUESTION, "options": []}), Given(option=1), "no options"),
        (a_run(question={"id": "q-1", "type": "Suggestion"}), Given(option=1), "give --text"),
        (a_run(), Given(text=""), "text: String should have at least 1 character"),
        (a_run(), Given(text="x" * 8193), "text: String should have at most 8192 characters"),
        (a_run(), Given(), "(?s)give --text or --option.*Which.*2. blue"),
        (a_run(), Given(option=1, question="q-2"), "give --text"),
    ],
)
def test_what_cannot_be_answered(run: Json, given: Given, words: str) -> None:
    with pytest.raises(CannotAnswer, match=words):
        choose(run, given, None)


def test_the_patch_is_for_the_run_that_was_read() -> None:
    entry = {"questionId": "q-1", "text": "x"}
    answer = Answer(question_id="q-1", text="x")
    test = {"op": "test", "path": "/metadata/resourceVersion", "value": "7"}
    assert patch_of(a_run(), answer) == [test, {"op": "add", "path": "/spec/answers", "value": [entry]}]
    old = [{"questionId": "q-0", "text": "y"}]
    assert patch_of(a_run(answers=old), answer) == [
        test,
        {"op": "add", "path": "/spec/answers/-", "value": entry},
    ]


async def test_an_answer_is_written(kubectl: Kubectl, tmp_path: Path) -> None:
    await send(kubectl, "hello", Given(option=2))
    assert answers(tmp_path) == [{"questionId": "q-1", "text": "blue"}]


async def test_a_run_that_was_written_meanwhile_is_read_again(kubectl: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "busy").touch()
    asked: list[str] = []

    def ask(question: Question) -> str:
        asked.append(question.id)
        return "once"

    await send(kubectl, "hello", Given(), ask)
    assert (answers(tmp_path), asked) == ([{"questionId": "q-1", "text": "once"}], ["q-1"])


async def test_what_the_server_refuses_is_said(kubectl: Kubectl, tmp_path: Path) -> None:
    (tmp_path / "refuse").touch()
    with pytest.raises(KubectlError, match="Forbidden"):
        await send(kubectl, "hello", Given(text="x"))


def test_as_a_person_meets_it(kubectl: Kubectl, tmp_path: Path) -> None:
    program = tmp_path / "kubectl"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {tmp_path}/kubectl.py {tmp_path} "$@"\n')
    program.chmod(0o755)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "skerry_cli", "answer", "hello", *arguments], capture_output=True, text=True,
            check=False, stdin=subprocess.DEVNULL, timeout=180, env={**os.environ, "SKERRY_KUBECTL": str(program)},
        )  # fmt: skip

    none = run()
    assert (none.returncode, "1. red" in none.stderr) == (2, True)
    assert run("--text", "x", "--option", "1").returncode == 2
    done = run("--text", "blue", "-n", "runs")
    assert (done.returncode, done.stdout) == (0, "question q-1 of hello is answered: blue\n")
    assert (run("--text", "red").returncode, len(answers(tmp_path))) == (2, 1)


def test_a_question_for_people() -> None:
    question = Question.model_validate({**QUESTION, "text": "Which\x1b[31m?\nNow", "context": "Two."})
    assert question_text(question) == "Which·[31m?\nNow\n\nTwo.\n\n  1. red\n  2. blue"
