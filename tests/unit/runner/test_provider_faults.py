"""The real OpenAI client against a server that fails in every way, through the whole pipeline, whole and streamed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from openai_stub import Reply, Stub
from skerry_api.phases import OutcomeClass, StopReason
from skerry_runner.llm.calls import Breakers
from skerry_runner.ports import RunResult
from skerry_testing.modelrows import play
from skerry_testing.runnerworld import RunnerWorld, document

KEY = "sk-test-0123456789"
ECHO = (("bash", {"command": "echo hi"}),)
WRITE = (("write_file", {"path": "/mnt/user-data/outputs/a", "content": "SECRET text"}),)


async def run(
    world: RunnerWorld,
    stub: Stub,
    *,
    streamed: bool = True,
    breakers: Breakers | None = None,
    **parameters: str,
) -> RunResult:
    told = {"streaming": "true" if streamed else "false", **parameters}
    spec = document(None, model="openai:stub", base_url=stub.url, parameters=told)
    return await play(world, spec, api_key=KEY, breakers=breakers)


def reasons(world: RunnerWorld) -> list[str]:
    return [event["reason"] for event in world.sink.events("llm.retry")]


@pytest.mark.parametrize("streamed", [True, False])
async def test_through_all_kinds_of_faults_to_an_answer(world: RunnerWorld, streamed: bool) -> None:
    replies = [
        Reply(status=429, error="slow down", retry_after=2),
        Reply(status=500),
        Reply("Let me look.", tool_calls=ECHO),
        Reply("I was going to", reset_after=3 if streamed else 0),
        Reply(
            "and then", status=200 if streamed else 503, error_after=2, code="server_error", error="broken"
        ),
        Reply("It said hi, slowly.", chunk_delay_seconds=0.01),
    ]
    async with Stub(replies) as stub:
        result = await run(world, stub, streamed=streamed)
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "It said hi, slowly."), result
    assert result.stop_reason is StopReason.END_TURN
    assert (result.progress.turn, result.progress.model_calls, result.progress.tool_calls) == (2, 6, 1)
    assert result.usage.total == result.usage.input + result.usage.output > 50
    assert [command.command for command in world.provider.sandbox.commands] == ["echo hi"]
    assert reasons(world)[:3] == ["RateLimited", "ServerError", "ConnectionFailed"]
    assert reasons(world)[3] in {"ServerError", "Overloaded"}
    assert world.slept == [2.0, 1.0, 1.0, 1.0]
    assert [request.get("stream", False) for request in stub.requests] == [streamed] * 6
    # Every attempt of a turn sends the same.
    assert stub.requests[0] == stub.requests[1] == stub.requests[2]
    assert stub.requests[3] == stub.requests[4] == stub.requests[5]


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("cut", [None, 20, 70])
async def test_calls_cut_by_a_filter_are_not_made(
    world: RunnerWorld, streamed: bool, cut: int | None
) -> None:
    reply = Reply("I will.", tool_calls=(*ECHO, *WRITE), cut_arguments_at=cut, finish_reason="content_filter")
    async with Stub([reply]) as stub:
        result = await run(world, stub, streamed=streamed)
    assert (result.outcome.class_, result.stop_reason) == (OutcomeClass.SUCCEEDED, StopReason.SAFETY_CAPPED)
    assert (result.answer or "").startswith("I will.\n\nThe model's provider stopped this answer")
    assert (world.provider.acquired, len(stub.requests)) == (0, 1)
    (event,) = world.sink.events("safety_termination")
    assert sorted(event["suppressed"]) == ["bash", "write_file"]
    assert "SECRET" not in str(event)


@pytest.mark.parametrize("streamed", [True, False])
@pytest.mark.parametrize("cut", [20, 70])
async def test_a_call_cut_by_length_goes_back_to_the_model(
    world: RunnerWorld, streamed: bool, cut: int
) -> None:
    replies = [
        Reply("I will.", tool_calls=(*ECHO, *WRITE), cut_arguments_at=cut, finish_reason="length"),
        Reply("Too long."),
    ]
    async with Stub(replies) as stub:
        result = await run(world, stub, streamed=streamed)
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "Too long.")
    assert [command.command for command in world.provider.sandbox.commands] == ["echo hi"]
    assert world.provider.sandbox.files == {}
    said, *results = stub.requests[1]["messages"][-3:]
    assert [call["function"]["name"] for call in said["tool_calls"]] == ["bash", "write_file"]
    assert [message["role"] for message in results] == ["tool", "tool"]
    assert [message["tool_call_id"] for message in results] == [call["id"] for call in said["tool_calls"]]
    assert "smaller calls" in results[1]["content"]


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_text_cut_by_length_is_length_capped(world: RunnerWorld, streamed: bool) -> None:
    async with Stub([Reply("half of it", finish_reason="length")]) as stub:
        result = await run(world, stub, streamed=streamed)
    assert (result.stop_reason, result.answer) == (StopReason.LENGTH_CAPPED, "half of it")


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_blank_refusal_gets_a_text_and_the_thread_goes_on(world: RunnerWorld, streamed: bool) -> None:
    async with Stub([Reply("", finish_reason="content_filter")]) as stub:
        result = await run(world, stub, streamed=streamed)
    assert result.stop_reason is StopReason.SAFETY_CAPPED
    assert "before it said anything" in (result.answer or "")


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_response_without_an_answer_is_asked_for_again(world: RunnerWorld, streamed: bool) -> None:
    replies = [Reply(no_choices=True), Reply("here")]
    async with Stub(replies) as stub:
        result = await run(world, stub, streamed=streamed)
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "here"), result.outcome


async def test_a_stream_that_stalls_is_given_up(world: RunnerWorld) -> None:
    replies = [Reply("I was going to", stall_after=3), Reply("here")]
    async with Stub(replies) as stub:
        result = await run(world, stub, timeout="0.5")
    assert (result.outcome.class_, result.answer) == (OutcomeClass.SUCCEEDED, "here")
    assert reasons(world) == ["ModelTimeout"]


@pytest.mark.parametrize(
    ("replies", "reason", "requests"),
    [
        ([Reply(status=401, error=f"bad key {KEY}")], "AuthenticationFailed", 1),
        ([Reply(status=429, code="insufficient_quota", error="You exceeded your current quota")], "QuotaExceeded", 1),
        ([Reply(status=429, code="limit_burst_rate", times=3)], "BurstLimited", 2),
        ([Reply(status=429, retry_after=99_999)], "RateLimited", 1),
        ([Reply(status=429, times=3)], "RateLimited", 3),
        ([Reply(status=503, times=3)], "Overloaded", 3),
        ([Reply(reset_after=0, times=3)], "ConnectionFailed", 3),
        ([Reply("x", reset_after=2, times=3)], "ConnectionFailed", 3),
        ([Reply(status=404)], "ModelNotFound", 1),
        ([Reply(status=400, code="context_length_exceeded", error="context_length_exceeded")], "ContextOverflow", 1),
        ([Reply(status=400, code="content_filter", error="filtered")], "ContentFiltered", 1),
        ([Reply(status=422)], "InvalidRequest", 1),
    ],
)  # fmt: skip
async def test_what_can_not_be_helped_is_the_outcome(
    world: RunnerWorld, replies: Sequence[Reply], reason: str, requests: int
) -> None:
    async with Stub(replies) as stub:
        result = await run(world, stub)
        url = stub.url
    outcome = result.outcome
    assert (outcome.class_, outcome.reason, outcome.endpoint) == (OutcomeClass.MODEL_ERROR, reason, url)
    assert (len(stub.requests), result.answer, result.stop_reason) == (requests, None, None)
    assert KEY not in outcome.message


async def test_one_endpoint_s_breaker_opens_tries_and_closes_over_runs(world: RunnerWorld) -> None:
    breakers = Breakers()
    replies = [
        Reply(status=503, times=15),
        Reply("x", reset_after=2, times=3),
        Reply("back"),
        Reply("and well"),
    ]
    async with Stub(replies) as stub:
        for _ in range(5):
            assert (await run(world, stub, breakers=breakers)).outcome.reason == "Overloaded"
        refused = await run(world, stub, breakers=breakers)
        assert (refused.outcome.reason, refused.outcome.endpoint) == ("CircuitOpen", stub.url)
        assert len(stub.requests) == 15
        world.slept.append(60.0)
        assert (await run(world, stub, breakers=breakers)).outcome.reason == "ConnectionFailed"
        world.slept.append(60.0)
        answers = [(await run(world, stub, breakers=breakers)).answer for _ in range(2)]
    assert answers == ["back", "and well"]
    changes: list[dict[str, Any]] = world.sink.events("llm.circuit")
    assert [event["state"] for event in changes] == ["open", "half-open", "open", "half-open", "closed"]
    assert {event["endpoint"] for event in changes} == {stub.url}


def test_a_reply_is_read_from_json() -> None:
    assert Reply.read({"tool_calls": [{"name": "ls"}], "content": "x"}) == Reply(
        "x", tool_calls=(("ls", {}),)
    )
    with pytest.raises(TypeError, match="unexpected"):
        Reply.read({"nonsense": 1})
