"""The guardrail against the real Open Policy Agent: its data API is what docs/reference/guardrail.md says."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from skerry_api.phases import OutcomeClass
from skerry_testing.controlplane import ROOT
from skerry_testing.opa import Opa, opa_binary, running_opa
from skerry_testing.runnerworld import RunnerWorld, document

# Its first build is not a test's own time.
pytestmark = pytest.mark.timeout(120, func_only=True)

TEAM = """
package team

verdict := {"allow": count(deny) == 0, "reasons": [reason | some reason in deny]}
deny contains "no secrets" if startswith(input.arguments.path, "/secrets")
deny contains sprintf("not for %s in %s", [input.user, input.namespace]) if input.tool == "read_file"

only_later := true if input.tool == "no such tool"

two_minds := true if input.tool != ""
two_minds := false if input.agent == "lead"

a_text := "yes"
"""
GIT = [
    {"name": "bash", "args": {"command": "git push"}, "id": "push"},
    {"name": "bash", "args": {"command": "git status"}, "id": "status"},
    {"name": "write_file", "args": {"path": "x", "content": "x"}, "id": "write"},
]
READ = [{"name": "read_file", "args": {"path": "/secrets/x"}, "id": "read"}]
UNKNOWN = "whether it may be made could not be found out"


@pytest.fixture(scope="module")
def binary() -> Path:
    return opa_binary()


@pytest.fixture
async def opa(binary: Path, tmp_path: Path) -> AsyncIterator[Opa]:
    page = (ROOT / "docs/reference/guardrail.md").read_text(encoding="utf-8")
    (documented,) = re.findall(r"```rego\n(.*?)```", page, re.DOTALL)
    async with running_opa(binary, tmp_path / "opa.log") as running:
        for name, rego in {"documented": documented, "team": TEAM}.items():
            answer = await running.put(name, rego)
            assert answer.is_success, answer.text
        yield running


async def played(
    url: str, calls: list[dict[str, Any]], **guardrail: Any
) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """A run whose model makes these calls: its events `guardrail`, and its results of tools by the call's id."""
    async with RunnerWorld() as world:
        script = json.dumps({"steps": [{"toolCalls": calls}, {"say": "done"}]})
        result = await world.run(document(script, guardrail={"http": {"url": url}, **guardrail}))
        await world.journal.flush()
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    assert world.sink.events("pipeline.fault") == []
    return world.sink.events("guardrail"), {each["id"]: each for each in world.sink.events("tool.result")}


async def test_the_documented_policy_allows_and_denies(opa: Opa) -> None:
    events, results = await played(f"{opa.url}/v1/data/skerry/allow", GIT)
    assert {call: result["status"] for call, result in results.items()} == {
        "push": "error",
        "status": "success",
        "write": "error",
    }
    assert sorted((e["id"], e["decision"], e["provider"], e["code"]) for e in events) == [
        ("push", "deny", "http", "policy"),
        ("write", "deny", "http", "policy"),
    ]
    assert "denied: the policy denies it (policy)" in results["push"]["content"]


async def test_a_policy_s_reasons_are_told(opa: Opa) -> None:
    events, results = await played(f"{opa.url}/v1/data/team/verdict", [*READ, GIT[1]])
    # What it was sent is what the page says: the rules use the names of it.
    assert "denied: no secrets; not for user in ns (policy)" in results["read"]["content"]
    assert results["status"]["status"] == "success"
    assert [(e["id"], e["reason"]) for e in events] == [("read", "no secrets; not for user in ns")]


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/v1/data/nobody/wrote/this", "not defined"),
        ("/v1/data/team/only_later", "not defined"),
        ("/v1/data/team/two_minds", "answered 500"),
        ("/v1/data/team/a_text", "neither a boolean nor an object"),
        ("/v1/policies", "answered 405"),
        ("/nowhere", "answered 404"),
    ],
)
async def test_what_is_no_decision_denies(opa: Opa, path: str, why: str) -> None:
    events, results = await played(opa.url + path, [GIT[1]])
    assert f"denied: {UNKNOWN} (no-decision)" in results["status"]["content"]
    [event] = events
    assert (event["decision"], event["provider"], event["code"]) == ("deny", "http", "no-decision")
    assert why in event["error"]


async def test_a_policy_that_opa_refuses_leaves_it_undefined_until_it_is_mended(opa: Opa) -> None:
    url = f"{opa.url}/v1/data/mended/allow"
    refused = await opa.put("mended", "package mended\n\nallow if { input.tool == no_such_name }\n")
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_parameter")
    [event], _ = await played(url, [GIT[1]])
    assert "not defined" in event["error"]
    assert (await opa.put("mended", "package mended\n\nallow := true\n")).is_success
    events, results = await played(url, [GIT[1]])
    assert (events, results["status"]["status"]) == ([], "success")


async def test_with_opa_down_the_profile_says_what_happens(opa: Opa) -> None:
    url = f"{opa.url}/v1/data/skerry/allow"
    await opa.stop()
    [event], results = await played(url, [GIT[1]])
    assert (event["decision"], event["code"], results["status"]["status"]) == ("deny", "no-decision", "error")
    assert "ConnectError" in event["error"]
    [event], results = await played(url, [GIT[1]], failClosed=False)
    assert (event["decision"], results["status"]["status"]) == ("allow", "success")
    # Open or not: what else is set still denies.
    events, results = await played(url, [GIT[1]], failClosed=False, deny=["bash"])
    assert [(e["decision"], e["provider"]) for e in events] == [("deny", "lists")]
    assert results["status"]["status"] == "error"
