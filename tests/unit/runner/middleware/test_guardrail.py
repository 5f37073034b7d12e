"""Guardrail: what reaches the handler, what is told and recorded, and what passes through."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langgraph.errors import GraphInterrupt

from skerry_api.guardrail import GUARDRAIL_HEADERS_ENV, Guardrail
from skerry_api.phases import OutcomeClass
from skerry_runner.guardrail import GuardedCall
from skerry_runner.guardrail.asking import Guards
from skerry_runner.guardrail.http import HttpPolicy
from skerry_runner.guardrail.types import NoEndpoint
from skerry_runner.outcome import InvalidDocument
from skerry_testing.policies import policy_server
from skerry_testing.runnerworld import RunnerWorld, document

POLICIES = "skerry_testing.policies"
CALL = GuardedCall(
    "bash", {"command": "ls"}, "c1", "lead", "uid", "run", "ns", "p", "t", "user", "2026-05-08T12:00:00Z"
)
SCRIPT = """
steps:
- toolCalls: [{name: bash, args: {command: ls}, id: c1}]
- say: done
"""


async def played(guardrail: dict[str, Any], **kwargs: Any) -> tuple[dict[str, list[dict[str, Any]]], Any]:
    async with RunnerWorld() as world:
        result = await world.run(document(SCRIPT, guardrail=guardrail), **kwargs)
        await world.journal.flush()
    kinds = ("guardrail", "audit.command", "tool.result", "sandbox.acquired")
    return {kind: world.sink.events(kind) for kind in kinds}, result


async def test_a_denied_call_is_not_made_and_says_why() -> None:
    rule = {"tool": "bash", "argument": "command", "regex": "^ls", "reason": "no looking around"}
    events, result = await played({"rules": [rule]})
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED
    (told,) = events["tool.result"]
    assert told["status"] == "error"
    assert told["content"].startswith("Error: the call of 'bash' was denied: no looking around (rule-0).")
    (event,) = events["guardrail"]
    assert {key: event[key] for key in ("id", "tool", "decision", "provider", "code", "reason")} == {
        "id": "c1", "tool": "bash", "decision": "deny", "provider": "rules", "code": "rule-0", "reason": "no looking around",
    }  # fmt: skip
    assert "ls" not in str(event)
    # Neither judged nor run.
    assert events["audit.command"] == events["sandbox.acquired"] == []


async def test_an_allowed_call_leaves_no_record() -> None:
    events, _ = await played({"allow": ["bash"]})
    assert [event["status"] for event in events["tool.result"]] == ["success"]
    assert events["guardrail"] == []
    assert len(events["audit.command"]) == 1


@pytest.mark.parametrize(
    ("guardrail", "provider", "code"),
    [
        ({"deny": ["bash"], "path": f"{POLICIES}:BrokenPolicy"}, "lists", "tool-denied"),
        ({"path": f"{POLICIES}:PlainPolicy"}, "path", "own"),
        ({"path": f"{POLICIES}:AsyncPolicy"}, "path", "house"),
        ({"path": f"{POLICIES}:BrokenPolicy"}, "path", "no-decision"),
        ({"path": f"{POLICIES}:LyingPolicy"}, "path", "no-decision"),
        ({"http": {"url": "http://127.0.0.1:1/"}}, "http", "no-decision"),
        (
            {"rules": [{"tool": "*", "argument": "command", "regex": "^(l|ll)+$"}], "deny": ["x"]},
            None,
            None,
        ),
    ],
)
async def test_the_first_provider_that_denies_or_fails_ends_it(
    guardrail: dict[str, Any], provider: str | None, code: str | None
) -> None:
    asked = await Guards(Guardrail.model_validate(guardrail)).ask(CALL, NoEndpoint())
    assert asked.decision.allow is (code is None)
    if code is not None:
        assert (asked.provider, asked.decision.code) == (provider, code)


async def test_no_decision_is_a_denial_unless_the_profile_says_otherwise() -> None:
    closed = Guardrail(path=f"{POLICIES}:BrokenPolicy")
    asked = await Guards(closed).ask(CALL, NoEndpoint())
    assert (asked.decision.allow, asked.error) == (False, "no idea about bash")
    events, _ = await played({"path": f"{POLICIES}:BrokenPolicy"})
    assert [event["decision"] for event in events["guardrail"]] == ["deny"]
    events, _ = await played({"path": f"{POLICIES}:BrokenPolicy", "failClosed": False})
    assert [(event["decision"], event["error"]) for event in events["guardrail"]] == [
        ("allow", "no idea about bash")
    ]
    assert [event["status"] for event in events["tool.result"]] == ["success"]


async def test_open_or_not_others_may_still_deny() -> None:
    settings = Guardrail.model_validate(
        {"http": {"url": "http://127.0.0.1:1/"}, "path": f"{POLICIES}:PlainPolicy", "failClosed": False}
    )
    asked = await Guards(settings).ask(CALL, NoEndpoint())
    assert (asked.decision.allow, asked.provider) == (False, "path")


async def test_interrupts_and_cancellation_pass() -> None:
    with pytest.raises(GraphInterrupt):
        await Guards(Guardrail(path=f"{POLICIES}:InterruptingPolicy")).ask(CALL, NoEndpoint())
    async with policy_server(lambda _, __: None) as url:
        settings = Guardrail.model_validate({"http": {"url": url, "timeoutSeconds": 60}})
        assert settings.http is not None
        endpoint = HttpPolicy(settings.http, {})
        asking = asyncio.create_task(Guards(settings).ask(CALL, endpoint))
        await asyncio.sleep(0)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        await endpoint.close()


@pytest.mark.parametrize(
    "path", ["no.such:Thing", f"{POLICIES}:Missing", f"{POLICIES}:NoPolicy", f"{POLICIES}:policy_server"]
)
async def test_a_class_that_can_t_be_used_is_told_with_its_field(path: str) -> None:
    with pytest.raises(InvalidDocument) as raised:
        Guards(Guardrail(path=path))
    assert raised.value.outcome.message.startswith("spec.guardrail.path: ")
    _, result = await played({"path": path})
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.INVALID_SPEC, "InvalidGuardrail")


async def test_the_endpoint_s_headers_come_from_the_pod_and_never_show() -> None:
    seen: list[str] = []

    def answers(body: dict[str, Any], headers: dict[str, str]) -> tuple[int, bytes]:
        seen.append(headers["authorization"])
        return 200, b'{"result": {"allow": false, "reason": "Bearer s3cret-s3cret is no good"}}'

    async with policy_server(answers) as url, RunnerWorld(secrets=("s3cret-s3cret",)) as world:
        await world.run(
            document(SCRIPT, guardrail={"http": {"url": url}}),
            environ={GUARDRAIL_HEADERS_ENV: "Authorization: Bearer s3cret-s3cret"},
        )
        await world.journal.flush()
    assert seen == ["Bearer s3cret-s3cret"]
    assert world.sink.events("guardrail")[0]["reason"] == "*** is no good"
    assert "s3cret" not in b"".join(world.sink.lines).decode()


async def test_headers_that_are_none_end_the_run() -> None:
    _, result = await played(
        {"http": {"url": "http://127.0.0.1:1/"}}, environ={GUARDRAIL_HEADERS_ENV: "nonsense"}
    )
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.INVALID_SPEC, "InvalidHeaders")
    assert result.outcome.message.startswith("spec.guardrail.http.headersSecretRef")
