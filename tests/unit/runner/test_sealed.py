"""Whatever rows do to a request, calls and results leave in pairs; the stub refuses them as a provider would."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from openai_stub import Reply, Stub
from openai_stub_replies import Json, unpaired
from skerry_api.phases import OutcomeClass
from skerry_runner.middleware.danglingtoolcall.pairing import paired
from skerry_runner.middleware.danglingtoolcall.seal import in_pairs
from skerry_testing.runnerworld import RunnerWorld, document

ASKED = HumanMessage("go")


def calling(*ids: str) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": "bash", "args": {}, "id": each} for each in ids])


def result(of: str) -> ToolMessage:
    return ToolMessage("ok", tool_call_id=of, name="bash")


HISTORIES: list[tuple[list[AnyMessage], bool]] = [
    ([], True),
    ([ASKED], True),
    ([ASKED, AIMessage("so")], True),
    ([ASKED, calling("a", "b"), result("a"), result("b"), calling("a"), result("a"), ASKED], True),
    ([calling("a", "b"), result("b"), result("a")], False),
    ([calling("a"), ASKED, result("a")], False),
    ([calling("a", "b"), result("a"), ASKED, result("b")], False),
    ([calling("a"), calling("b"), result("b"), result("a")], False),
    ([calling("a")], False),
    ([calling("a", "b"), result("a")], False),
    ([result("a")], False),
    ([calling("a"), result("a"), result("a")], False),
    ([calling("a"), result("b")], False),
]


@pytest.mark.parametrize(("messages", "good"), HISTORIES)
def test_what_is_in_pairs(messages: list[AnyMessage], good: bool) -> None:
    assert in_pairs(messages) is good
    assert in_pairs(paired(messages))


def test_a_message_may_hold_what_is_no_call() -> None:
    broken = AIMessage("", invalid_tool_calls=[{"name": "bash", "args": "{", "id": "a", "error": "cut"}])
    assert in_pairs(paired([ASKED, broken, ASKED]))


CALL: Json = {"role": "assistant", "tool_calls": [{"id": "a"}, {"id": "b"}]}
USER: Json = {"role": "user", "content": "go"}


def answer(of: str) -> Json:
    return {"role": "tool", "tool_call_id": of, "content": "ok"}


@pytest.mark.parametrize(
    ("messages", "fault"),
    [
        ([USER, CALL, answer("b"), answer("a"), USER], None),
        ([CALL, answer("a"), USER, answer("b")], "messages[2]: the results of b must stand before it"),
        ([USER, answer("a")], "messages[1]: a result without a call right before it"),
        ([CALL, answer("a"), answer("a")], "messages[2]: a result without a call right before it"),
        ([CALL, answer("a")], "the results of b are missing"),
    ],
)
def test_what_the_stub_refuses(messages: list[Json], fault: str | None) -> None:
    assert unpaired(messages) == fault


@pytest.mark.parametrize("custom", ["Intruder", None])
async def test_a_user_s_row_can_not_part_a_call_from_its_result(
    world: RunnerWorld, custom: str | None
) -> None:
    replies = [Reply("Look.", tool_calls=(("ls", {}), ("bash", {"command": "true"}))), Reply("done")]
    rows = [{"path": f"skerry_testing.customrows:{custom}"}] if custom else []
    async with Stub(replies) as stub:
        spec = document(None, model="openai:stub", base_url=stub.url, pipeline={"custom": rows})
        ended = await world.run(spec, api_key="sk-test")
    assert (ended.outcome.class_, ended.answer) == (OutcomeClass.SUCCEEDED, "done"), ended.outcome
    sent = [message["role"] for message in stub.requests[1]["messages"]]
    assert (
        sent[-5:] == ["assistant", "tool", "tool", "user", "user"]
        if custom
        else sent[-2:] == ["tool", "tool"]
    )
    faults = [(event["row"], event["hook"], event["error"]) for event in world.sink.events("pipeline.fault")]
    assert faults == ([("Pipeline", "wrap_model_call", "BrokenPairing")] if custom else [])
