"""`skerry memory` from the outside, after `skerry run`: what is learned in one thread is told in another, and forgotten."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from skerry_cli.app import app

RUN = """\
apiVersion: skerry.dev/v1alpha1
kind: AgentRun
metadata: {{name: r}}
spec: {{profileRef: {{name: p}}, prompt: "I like tea.", userId: {user}, threadId: {thread}}}
---
apiVersion: skerry.dev/v1alpha1
kind: AgentProfile
metadata: {{name: p}}
spec:
  model: {{name: scripted, script: '{script}'}}
  pipeline: {{memory: {{enabled: true, flush: {flush}, debounceSeconds: {debounce}}}}}
"""
FACT = {"content": "Likes tea.", "category": "preference", "confidence": 0.9}
LEARN = {"purpose": "memory", "say": json.dumps({"add": [FACT]})}
ANN = "ann@example.org"


class Laptop:
    """A data directory, and the commands that work on it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"

    def files(
        self, *steps: Any, user: str = ANN, thread: str = "one", flush: str = "AtEnd", debounce: int = 1
    ) -> str:
        path = self.folder / "run.yaml"
        script = json.dumps({"steps": list(steps)})
        path.write_text(
            RUN.format(
                user=user, thread=thread, script=script.replace("'", "''"), flush=flush, debounce=debounce
            )
        )
        return str(path)

    def do(self, *command: str) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, [*command, "--data-dir", str(self.data)])
        return result.exit_code, result.stdout, result.stderr

    def run(self, *steps: Any, **kwargs: Any) -> Any:
        code, out, err = self.do("run", "-f", self.files(*steps, **kwargs), "-o", "json")
        assert code == 0, err + out
        return json.loads(out)["status"]

    def known(self, user: str = ANN) -> Any:
        code, out, err = self.do("memory", "get", "--user", user, "-o", "json")
        assert code == 0, err
        return json.loads(out)


@pytest.fixture
def laptop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Laptop:
    monkeypatch.delenv("SKERRY_POSTGRES_DSN", raising=False)
    return Laptop(tmp_path)


def test_another_thread_of_the_user_is_told_and_nobody_else(laptop: Laptop) -> None:
    laptop.run({"say": "noted"}, LEARN)
    (fact,) = laptop.known()["facts"]
    assert {key: fact[key] for key in FACT} == FACT
    told = {"expect": {"contains": ["- Likes tea\\."]}, "say": "hello"}
    assert laptop.run(told, thread="two")["phase"] == "Succeeded"
    untold = {"expect": {"absent": ["Likes tea\\."]}, "say": "hello"}
    laptop.run(untold, user="bob", thread="three")
    code, out, _ = laptop.do("memory", "get", "--user", ANN)
    assert (code, out.split()) == (0, [fact["id"], "0.90", "preference", "Likes", "tea."])


def test_facts_are_forgotten_one_by_one_or_all(laptop: Laptop) -> None:
    second = {**FACT, "content": "Lives in Oslo."}
    laptop.run({"say": "noted"}, {"purpose": "memory", "say": json.dumps({"add": [FACT, second]})})
    tea = next(fact["id"] for fact in laptop.known()["facts"] if fact["content"] == "Likes tea.")
    code, _, err = laptop.do("memory", "forget", "--user", ANN, "--fact", tea, "--fact", "nobody")
    assert (code, err) == (2, f"skerry: no such fact of {ANN}: nobody\n")
    assert len(laptop.known()["facts"]) == 2
    code, out, _ = laptop.do("memory", "forget", "--user", ANN, "--fact", tea)
    assert (code, out) == (0, "forgotten: 1 facts\n")
    assert [fact["content"] for fact in laptop.known()["facts"]] == ["Lives in Oslo."]
    code, out, _ = laptop.do("memory", "forget", "--user", ANN)
    assert (code, out) == (0, "forgotten: 1 facts, 0 waiting\n")
    assert laptop.known()["facts"] == []


def test_debounced_runs_wait_until_they_are_flushed(laptop: Laptop) -> None:
    settings: dict[str, Any] = {"flush": "Debounced", "debounce": 3600}
    for _ in range(3):
        laptop.run({"say": "noted"}, **settings)
    assert [(each["thread"], each["profile"], each["exchanges"]) for each in laptop.known()["waiting"]] == [
        ("one", "p", 1)
    ] * 3
    profile = laptop.files(LEARN, **settings)
    assert laptop.do("memory", "flush", "-f", profile, "--due")[:2] == (0, "nothing is due\n")
    code, out, _ = laptop.do("memory", "flush", "-f", profile)
    assert (code, out) == (0, f"{ANN}/lead, thread one: 1 added, 0 removed\n")
    assert (len(laptop.known()["facts"]), laptop.known()["waiting"]) == (1, [])
    assert laptop.do("memory", "flush", "-f", profile)[:2] == (0, "nothing waits\n")


def test_a_flush_that_fails_says_so_and_leaves_it(laptop: Laptop) -> None:
    laptop.run({"say": "noted"}, flush="Debounced", debounce=3600)
    profile = laptop.files({"purpose": "memory", "say": "I will not"}, flush="Debounced")
    code, out, _ = laptop.do("memory", "flush", "-f", profile, "-o", "json")
    (told,) = json.loads(out)
    assert (code, told["thread"], told["added"], told["dropped"]) == (1, "one", 0, False)
    assert "no use" in told["error"]
    assert len(laptop.known()["waiting"]) == 1


def test_what_waits_is_forgotten_too(laptop: Laptop) -> None:
    laptop.run({"say": "noted"}, flush="Debounced", debounce=3600)
    assert laptop.do("memory", "forget", "--user", ANN)[:2] == (0, "forgotten: 0 facts, 1 waiting\n")
    assert laptop.known()["waiting"] == []


def test_bad_input(laptop: Laptop) -> None:
    code, _, err = laptop.do("memory", "get")
    assert (code, err) == (1, f"skerry: there is no data directory {laptop.data}\n")
    laptop.data.mkdir()
    assert laptop.do("memory", "get")[0::2] == (0, "nothing is remembered of default\n")
    assert laptop.do("memory", "flush", "-f", str(laptop.folder / "none.yaml"))[0] == 2
    keyed = laptop.folder / "keyed.yaml"
    keyed.write_text(
        "apiVersion: skerry.dev/v1alpha1\nkind: AgentProfile\nmetadata: {name: p}\n"
        "spec: {model: {name: 'openai:x', apiKeySecretRef: {name: s, key: k}}}\n"
    )
    code, _, err = laptop.do("memory", "flush", "-f", str(keyed))
    assert code == 2
    assert "spec.model.apiKeySecretRef: the model's key is expected in the environment variable" in err


def start(laptop: Laptop, name: str, *steps: Any, **kwargs: Any) -> subprocess.Popen[str]:
    """`skerry run` as a process of its own; its files are its own too."""
    path = laptop.folder / f"{name}.yaml"
    path.write_text(Path(laptop.files(*steps, **kwargs)).read_text())
    command = [sys.executable, "-m", "skerry_cli", "run", "-f", str(path), "--data-dir", str(laptop.data)]
    journal = ["--journal", str(laptop.folder / f"{name}.jsonl")]
    return subprocess.Popen([*command, *journal], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def until_asked(journal: Path, process: subprocess.Popen[str]) -> None:
    """Return once the model was asked for facts."""
    while '"purpose":"memory"' not in (journal.read_text() if journal.exists() else ""):
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)


def test_a_run_that_is_killed_in_its_update_loses_nothing(laptop: Laptop) -> None:
    killed = start(laptop, "killed", {"say": "noted"}, {**LEARN, "delaySeconds": 3600})
    until_asked(laptop.folder / "killed.jsonl", killed)
    killed.kill()
    killed.communicate()
    assert [(each["thread"], each["exchanges"]) for each in laptop.known()["waiting"]] == [("one", 1)]
    laptop.run({"say": "again"}, {**LEARN, "expect": {"contains": ["noted(.|\n)*again"]}})
    after = laptop.known()
    assert ([fact["content"] for fact in after["facts"]], after["waiting"]) == (["Likes tea."], [])


def test_two_runs_at_once_of_one_user(laptop: Laptop) -> None:
    contents = ["Likes tea.", "Lives in Oslo.", "Has a cat."]
    runs = [
        start(
            laptop, f"run{n}", {"say": "noted"},
            {"purpose": "memory", "say": json.dumps({"add": [{**FACT, "content": content}]})}, thread=f"t{n}",
        )
        for n, content in enumerate(contents)
    ]  # fmt: skip
    for each in runs:
        out, err = each.communicate(timeout=120)
        assert each.returncode == 0, out + err
    assert sorted(fact["content"] for fact in laptop.known()["facts"]) == sorted(contents)
    for n in range(len(contents)):
        assert "pipeline.fault" not in (laptop.folder / f"run{n}.jsonl").read_text()
