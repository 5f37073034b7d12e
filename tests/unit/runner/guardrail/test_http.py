"""The policy endpoint: what counts as a decision, and what does not. The server is real, on loopback."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skerry_api.guardrail import GuardrailHttp
from skerry_runner.guardrail import GuardedCall
from skerry_runner.guardrail.http import HttpPolicy, PolicyError, decision_of
from skerry_testing.policies import policy_server

CALL = GuardedCall(
    "bash", {"command": "ls"}, "c1", "lead", "uid", "run", "ns", "p", "t", "u", "2026-05-08T12:00:00Z"
)


@pytest.mark.parametrize(
    ("body", "allow", "reason"),
    [
        ({"result": True}, True, ""),
        ({"result": False}, False, "the policy denies it"),
        ({"result": {"allow": True, "reason": "x"}}, True, ""),
        ({"result": {"allow": False}}, False, "the policy denies it"),
        ({"result": {"allow": False, "reason": "no"}}, False, "no"),
        (
            {"result": {"allow": False, "reasons": ["a", {"code": "x", "message": "b"}, 3, "a"]}},
            False,
            "a; b",
        ),
        ({"result": {"allow": False, "deny": ["c"]}, "decision_id": "1"}, False, "c"),
    ],
)
def test_decisions(body: Any, allow: bool, reason: str) -> None:
    found = decision_of(body)
    assert (found.allow, found.reason) == (allow, reason)


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        None,
        True,
        "yes",
        {"result": None},
        {"result": "true"},
        {"result": 1},
        {"result": []},
        {"result": {"allow": "true"}},
        {"result": {}},
        {"allow": True},
    ],
)
def test_lies_are_no_decisions(body: Any) -> None:
    with pytest.raises(PolicyError):
        decision_of(body)


async def asked(url: str, headers: dict[str, str] | None = None, seconds: int = 5) -> bool:
    policy = HttpPolicy(GuardrailHttp(url=url, timeout_seconds=seconds), headers or {})
    try:
        return (await policy.decide(CALL)).allow
    finally:
        await policy.close()


async def test_what_is_sent() -> None:
    seen: list[tuple[Any, dict[str, str]]] = []

    def answers(body: dict[str, Any], headers: dict[str, str]) -> tuple[int, bytes]:
        seen.append((body, headers))
        return 200, b'{"result": true}'

    async with policy_server(answers) as url:
        policy = HttpPolicy(GuardrailHttp(url=f"{url}/v1/data/x"), {"Authorization": "Bearer s3cret"})
        assert (await policy.decide(CALL)).allow
        await policy.close()
        # Closed connections are made anew.
        assert (await policy.decide(CALL)).allow
        await policy.close()
    body, headers = seen[0]
    assert body == {
        "input": {
            "tool": "bash", "arguments": {"command": "ls"}, "id": "c1", "agent": "lead", "run": "uid", "run_name": "run",
            "namespace": "ns", "profile": "p", "thread": "t", "user": "u", "time": "2026-05-08T12:00:00Z",
        }
    }  # fmt: skip
    assert (headers["content-type"], headers["authorization"]) == ("application/json", "Bearer s3cret")
    assert len(seen) == 2


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((500, b'{"result": true}'), "answered 500"),
        ((302, b""), "answered 302"),
        ((404, b'{"result": true}'), "answered 404"),
        ((200, b"yes"), "no JSON"),
        ((200, b"[" * 60_000), "no JSON"),
        ((200, b"{}"), "no result"),
        ((200, json.dumps({"result": "x" * 100_000}).encode()), "more than"),
    ],
)
async def test_an_endpoint_that_misbehaves(answer: tuple[int, bytes], words: str) -> None:
    async with policy_server(lambda _, __: answer) as url:
        with pytest.raises(PolicyError, match=words):
            await asked(url)


async def test_an_endpoint_that_is_down_or_slow() -> None:
    async with policy_server(lambda _, __: None) as url:
        with pytest.raises(PolicyError, match="no answer within 1 s"):
            await asked(url, seconds=1)
    with pytest.raises(PolicyError, match="ConnectError"):
        await asked(url)
