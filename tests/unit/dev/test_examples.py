"""The examples, executed here as their READMEs say; and that they can't pretend."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from openai_stub import Reply, Stub, served
from skerry_api.strict import check

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
SKERRY = Path(sys.executable).with_name("skerry")
MANIFESTS = sorted(path for path in EXAMPLES.rglob("*.yaml"))


def _run(
    *files: Path,
    data: Path,
    env: dict[str, str] | None = None,
    journal: Path | None = None,
    options: tuple[str, ...] = (),
) -> tuple[int, dict[str, Any], str]:
    named = [part for file in files for part in ("-f", str(file))]
    named += options
    named += [] if journal is None else ["--journal", str(journal)]
    done = subprocess.run(
        [SKERRY, "run", *named, "--data-dir", str(data), "-o", "json"],
        capture_output=True, text=True, check=False, env={**os.environ, **(env or {})},
    )  # fmt: skip
    return done.returncode, json.loads(done.stdout or "{}"), done.stderr


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: str(path.relative_to(EXAMPLES)))
def test_manifests_are_what_the_api_takes(path: Path) -> None:
    documents = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
    assert documents
    for document in documents:
        assert check(document) == []


def test_hello_solves_its_task_and_the_next_run_finds_its_files(tmp_path: Path) -> None:
    hello = EXAMPLES / "hello"
    code, run, said = _run(hello / "profile.yaml", hello / "run.yaml", data=tmp_path)
    assert (code, run["status"]["phase"]) == (0, "Succeeded"), said
    report = run["status"]["runner"]
    assert report["answer"].startswith("There are 25 primes below 100.")
    assert report["progress"]["toolCalls"] >= 6
    code, again, said = _run(hello / "profile.yaml", hello / "again" / "run.yaml", data=tmp_path)
    assert (code, again["status"]["runner"]["answer"]) == (0, "There are 168 primes below 1000."), said
    assert again["status"]["sandboxId"] == run["status"]["sandboxId"]


def test_a_question_is_asked_and_answered(tmp_path: Path) -> None:
    question = EXAMPLES / "question"
    files = (question / "profile.yaml", question / "run.yaml")
    code, run, said = _run(*files, data=tmp_path)
    assert (code, run["status"]["phase"]) == (3, "AwaitingInput"), said
    assert run["status"]["runner"]["question"]["options"] == ["SQLite", "Postgres"]
    code, run, said = _run(*files, data=tmp_path, options=("--answer", "Postgres"))
    assert (code, run["status"]["runner"].get("answer")) == (0, "Postgres it is."), said


def test_a_thread_is_gone_on_with(tmp_path: Path) -> None:
    thread = EXAMPLES / "thread"
    code, run, said = _run(thread / "profile.yaml", thread / "2-again.yaml", data=tmp_path / "other")
    assert (code, run["status"]["runner"]["outcome"]["reason"]) == (1, "ScriptMismatch"), said
    for name, answer in (("1-first", "Noted, 12 beds."), ("2-again", "There are 12 beds.")):
        code, run, said = _run(thread / "profile.yaml", thread / f"{name}.yaml", data=tmp_path)
        assert (code, run["status"]["runner"]["answer"]) == (0, answer), said


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("int(number**0.5) + 1)/'", "int(number**0.5))/'"),  # a repair that repairs nothing
        ("python3 -m unittest test_primes", "true"),  # a test that is not run
        ("range(2, int(number**0.5)))", "range(2, int(number**0.5) + 1))"),  # nothing to repair
    ],
)
def test_hello_cannot_pretend(tmp_path: Path, written: str, instead: str) -> None:
    text = (EXAMPLES / "hello" / "run.yaml").read_text(encoding="utf-8")
    assert written in text
    changed = tmp_path / "run.yaml"
    changed.write_text(text.replace(written, instead), encoding="utf-8")
    code, run, _ = _run(EXAMPLES / "hello" / "profile.yaml", changed, data=tmp_path)
    assert (code, run["status"]["phase"]) == (1, "Failed")
    assert run["status"]["runner"]["outcome"]["reason"] == "ScriptMismatch"


def test_subagents_share_the_work_and_the_sandbox(tmp_path: Path) -> None:
    example = EXAMPLES / "subagents"
    code, run, said = _run(example / "profile.yaml", example / "run.yaml", data=tmp_path)
    assert (code, run["status"]["phase"]) == (0, "Succeeded"), said
    report = run["status"]["runner"]
    assert report["answer"].startswith("There are 13 in all")
    assert report["progress"]["turn"] == 3
    assert (report["progress"]["modelCalls"], report["progress"]["toolCalls"]) == (7, 5)


def test_guarded_is_denied_blocked_and_warned_and_goes_on(tmp_path: Path) -> None:
    example, journal = EXAMPLES / "guarded", tmp_path / "journal.jsonl"
    code, run, said = _run(
        example / "profile.yaml", example / "run.yaml", data=tmp_path / "data", journal=journal
    )
    assert (code, run["status"]["phase"]) == (0, "Succeeded"), said
    events = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()]
    told = [
        (event["type"], event.get("verdict") or event["code"])
        for event in events
        if event["type"] in {"guardrail", "audit.command"}
    ]
    assert sorted(told) == [
        ("audit.command", "block"), ("audit.command", "warn"), ("guardrail", "rule-0"), ("guardrail", "rule-1"),
    ]  # fmt: skip
    assert [event["status"] for event in events if event["type"] == "tool.result"].count("error") == 3


def _with_endpoint(folder: Path, url: str) -> Path:
    profile = yaml.safe_load((EXAMPLES / "openai" / "profile.yaml").read_text(encoding="utf-8"))
    profile["spec"]["model"] |= {"name": "openai:stub", "baseUrl": url}
    profile["spec"]["sandbox"]["allowLocalBash"] = True
    secret = {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "model-key"},
        "stringData": {"api-key": "k-123"},
    }  # fmt: skip
    path = folder / "profile.yaml"
    path.write_text(yaml.safe_dump_all([profile, secret]), encoding="utf-8")
    return path


def test_openai_talks_to_an_endpoint_and_uses_a_tool(tmp_path: Path) -> None:
    stub = Stub()
    with served(stub) as url:
        code, run, said = _run(_with_endpoint(tmp_path, url), EXAMPLES / "openai" / "run.yaml", data=tmp_path)
    assert (code, run["status"]["phase"]) == (0, "Succeeded"), said
    assert "hello from the sandbox" in run["status"]["runner"]["answer"]
    assert run["status"]["runner"]["usage"]["total"] > 0
    assert stub.keys == ["k-123", "k-123"]
    first, second = stub.requests
    assert first["messages"][-1]["role"] == "user"
    assert second["messages"][-1]["role"] == "tool"
    assert "k-123" not in said + json.dumps(run)


def test_an_endpoint_that_refuses_ends_the_run_as_a_models_fault(tmp_path: Path) -> None:
    stub = Stub([Reply(status=401, error="bad key")])
    with served(stub) as url:
        code, run, _ = _run(_with_endpoint(tmp_path, url), EXAMPLES / "openai" / "run.yaml", data=tmp_path)
    assert (code, run["status"]["phase"]) == (1, "Failed")
    assert run["status"]["failure"]["class"] == "ModelError"
