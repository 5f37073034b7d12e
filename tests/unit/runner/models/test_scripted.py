"""The scripted model as LangChain sees it: steps in order, errors raised, parts apart, places that can be resumed."""

from __future__ import annotations

import pytest
from langchain_core.exceptions import ModelError, ModelRateLimitError
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool

from skerry_runner.models.scripted.faults import ScriptedFault
from skerry_runner.models.scripted.model import ScriptedModel
from skerry_runner.models.scripted.parse import parse_script
from skerry_runner.models.scripted.playhead import LEAD, Part, Playhead, ScriptMismatch
from skerry_runner.models.scripted.schema import Purpose


def scripted(text: str, run: str = "run-1") -> ScriptedModel:
    return ScriptedModel(playhead=Playhead(parse_script(text, source="s"), run))


@tool
def look(where: str) -> str:
    """Look there."""
    return where


async def test_steps_are_played_in_order_in_every_mode() -> None:
    model = scripted("steps: [{say: a}, {say: b}, {say: c}, {say: d e}]")
    assert (await model.ainvoke("x")).text == "a"
    assert model.invoke("x").text == "b"
    assert "".join([chunk.text for chunk in model.stream("x")]) == "c"
    assert [chunk.text async for chunk in model.astream("x")] == ["d ", "e", ""]


async def test_running_out_of_steps_is_a_mismatch() -> None:
    model = scripted("steps: [{say: a}]")
    await model.ainvoke("x")
    with pytest.raises(ScriptMismatch, match="s: no step is left, but the model is called again"):
        await model.ainvoke("x")


async def test_a_mismatch_names_step_and_line() -> None:
    model = scripted("steps:\n- say: a\n- expect: {contains: [nowhere]}\n  say: b")
    await model.ainvoke("x")
    with pytest.raises(ScriptMismatch) as caught:
        await model.ainvoke("x")
    assert caught.value.outcome.message == "s: line 3: steps[1]: expect: contains 'nowhere': nothing matches"
    assert caught.value.outcome.reason == "ScriptMismatch"


async def test_bound_tools_are_seen() -> None:
    model = scripted("steps: [{expect: {tools: {include: [look]}}}, {expect: {tools: {exclude: [look]}}}]")
    bound = model.bind_tools([look])
    await bound.ainvoke("x")
    with pytest.raises(ScriptMismatch, match=r"tools\.exclude look: bound"):
        await bound.ainvoke("x")


@pytest.mark.parametrize(
    ("error", "name", "status", "retryable", "headers"),
    [
        ("{status: 429, code: rate_limit, retryAfterSeconds: 1.5}", "RateLimitError", 429, True, {"retry-after": "1.5"}),
        ("{status: 401}", "AuthenticationError", 401, False, {}),
        ("{status: 403}", "PermissionDeniedError", 403, False, {}),
        ("{status: 404}", "NotFoundError", 404, False, {}),
        ("{status: 422}", "InvalidRequestError", 422, False, {}),
        ("{status: 503}", "ServerError", 503, True, {}),
    ],
)  # fmt: skip
async def test_http_errors_look_like_a_provider_s(
    error: str, name: str, status: int, retryable: bool, headers: dict[str, str]
) -> None:
    with pytest.raises(ScriptedFault) as caught:
        await scripted(f"steps: [{{error: {error}}}]").ainvoke("x")
    fault = caught.value
    assert (type(fault).__name__, fault.status_code, fault.is_retryable) == (name, status, retryable)
    assert fault.response is not None
    assert (fault.response.status_code, dict(fault.response.headers)) == (status, headers)
    assert isinstance(fault, ModelError)


@pytest.mark.parametrize(
    ("kind", "base"),
    [("timeout", TimeoutError), ("connection", ConnectionError), ("reset", ConnectionResetError)],
)
async def test_faults_below_http(kind: str, base: type[Exception]) -> None:
    with pytest.raises(base) as caught:
        await scripted(f"steps: [{{error: {{kind: {kind}}}}}]").ainvoke("x")
    assert isinstance(caught.value, ScriptedFault)
    assert caught.value.is_retryable


async def test_an_error_is_a_step_of_its_own() -> None:
    model = scripted("steps: [{error: {status: 429, message: slow down}}, {say: now}]")
    with pytest.raises(ModelRateLimitError, match="slow down"):
        await model.ainvoke("x")
    assert (await model.ainvoke("x")).text == "now"


async def test_parts_play_their_own_steps() -> None:
    lead = scripted(
        "steps:\n- {say: lead}\n- {agent: bash, task: ^find, say: found}\n- {agent: bash, say: any}\n- {purpose: title, say: T}"
    )
    finder = Part(agent="bash", prompt="find it", execution="1")
    again = Part(agent="bash", prompt="find it", execution="2")
    other = Part(agent="bash", prompt="make it", execution="3")
    assert (await lead.for_part(finder).ainvoke("x")).text == "found"
    assert (await lead.for_part(finder).ainvoke("x")).text == "any"
    assert (await lead.for_part(again).ainvoke("x")).text == "found"
    assert (await lead.for_part(other).ainvoke("x")).text == "any"
    assert [step.step for step in lead.playhead.unused()] == [0, 3]
    assert (await lead.for_part(Part(purpose=Purpose.TITLE)).ainvoke("x")).text == "T"
    assert (await lead.ainvoke("x")).text == "lead"
    assert lead.playhead.unused() == ()


async def test_a_place_can_be_taken_up_and_never_goes_back() -> None:
    model = scripted("steps: [{say: a}, {say: b}, {say: c}]")
    model.playhead.seed(LEAD, 1)
    assert (await model.ainvoke("x")).text == "b"
    model.playhead.seed(LEAD, 1)
    assert (await model.ainvoke([HumanMessage("x")])).text == "c"
    assert model.playhead.unused() == ()


def test_the_place_belongs_to_run_and_script() -> None:
    keys = {scripted(text, run).playhead.key for text in ("steps: []", "steps: [{}]") for run in ("a", "b")}
    assert len(keys) == 4
