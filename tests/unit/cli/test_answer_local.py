"""`skerry run` that stops with a question, and `--answer`: a real process each time, one data directory."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

RUN = """\
apiVersion: skerry.dev/v1alpha1
kind: AgentRun
metadata: {name: r}
spec: {profileRef: {name: scripted}, prompt: hi}
"""
SCRIPT = """\
steps:
- toolCalls:
  - {name: write_file, args: {path: /mnt/user-data/workspace/a.txt, content: kept}}
  - {name: ask_clarification, args: {question: "Which one?", options: '["red", "blue"]'}}
  - {name: write_file, args: {path: /mnt/user-data/workspace/b.txt, content: never}}
- expect: {contains: ["(?s)ask_clarification.*make it blue"], lastRole: tool}
  toolCalls: [{name: read_file, args: {path: /mnt/user-data/workspace/a.txt}}]
- expect: {contains: ["kept"]}
  say: "blue, and kept"
"""
PATIENCE = 120


class Laptop:
    """A folder with a run, a script and a data directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "run.yaml").write_text(RUN)
        (folder / "script.yaml").write_text(SCRIPT)

    def run(self, *options: str) -> subprocess.CompletedProcess[str]:
        given = ["-f", "run.yaml", "--script", "script.yaml", "--data-dir", "data", *options]
        return subprocess.run(
            [sys.executable, "-m", "skerry_cli", "run", *given], cwd=self.folder, capture_output=True, text=True,
            timeout=PATIENCE, check=False,
        )  # fmt: skip

    def status(self, done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
        run = json.loads(done.stdout)
        status: dict[str, Any] = run["status"]
        return status

    def journal(self, kind: str) -> list[dict[str, Any]]:
        (path,) = self.folder.glob("data/threads/*/journal.jsonl")
        events = [json.loads(line) for line in path.read_text().splitlines()]
        return [event for event in events if event["type"] == kind]


@pytest.fixture
def laptop(tmp_path: Path) -> Laptop:
    return Laptop(tmp_path)


def test_a_question_stops_the_run_and_an_answer_goes_on_with_it(laptop: Laptop) -> None:
    asked = laptop.run("--thread", "t", "-o", "json")
    assert asked.returncode == 3, asked.stderr
    before = laptop.status(asked)
    assert (before["phase"], before["epoch"], before["runner"]["outcome"]["class"]) == (
        "AwaitingInput",
        1,
        "AwaitingInput",
    )
    question = before["runner"]["question"]
    assert (question["text"], question["options"]) == ("Which one?", ["red", "blue"])
    assert not {"completionTime", "deadline"} & before.keys()

    answered = laptop.run("--thread", "t", "--answer", "make it blue", "-o", "json")
    assert answered.returncode == 0, answered.stderr
    after = laptop.status(answered)
    assert (after["phase"], after["epoch"], after["runner"]["answer"]) == ("Succeeded", 2, "blue, and kept")
    assert (after["startTime"], after["attempts"]) == (before["startTime"], 1)
    assert "question" not in after["runner"]
    one, two = json.loads(asked.stdout), json.loads(answered.stdout)
    assert one["metadata"]["uid"] == two["metadata"]["uid"]
    assert two["spec"]["answers"] == [{"questionId": question["id"], "text": "make it blue"}]
    assert not list(laptop.folder.glob("data/threads/*/user-data/workspace/b.txt"))
    assert len(laptop.journal("question")) == 1
    names = [event["name"] for event in laptop.journal("tool.call")]
    assert names == ["write_file", "ask_clarification", "read_file"]


def test_as_text_the_question_is_shown_and_how_to_answer(laptop: Laptop) -> None:
    asked = laptop.run()
    assert asked.returncode == 3
    assert asked.stdout == "Which one?\n\n  1. red\n  2. blue\n"
    thread = asked.stderr.rpartition("--thread ")[2].split()[0]
    answered = laptop.run("--thread", thread, "--answer", "make it blue")
    assert (answered.returncode, answered.stdout) == (0, "blue, and kept\n")


def test_there_must_be_a_question_to_answer(laptop: Laptop) -> None:
    none = laptop.run("--thread", "t", "--answer", "x")
    assert (none.returncode, none.stdout) == (2, "")
    assert "--answer: thread t has no open question" in none.stderr
    nowhere = laptop.run("--answer", "x")
    assert nowhere.returncode == 2
    assert "--answer: which thread?" in nowhere.stderr


def test_a_new_run_of_the_thread_leaves_the_question_behind(laptop: Laptop) -> None:
    assert laptop.run("--thread", "t").returncode == 3
    empty = laptop.run("--thread", "t", "--answer", "")
    assert empty.returncode == 2
    assert "--answer" in empty.stderr
    (laptop.folder / "script.yaml").write_text("steps: [{say: anew}]")
    assert laptop.run("--thread", "t").returncode == 0
    assert laptop.run("--thread", "t", "--answer", "make it blue").returncode == 2
