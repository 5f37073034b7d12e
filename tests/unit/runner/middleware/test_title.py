"""Title: what a thread is called, by a model or without one."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from typing_extensions import override

from skerry_api.phases import StopReason
from skerry_runner.messages import HIDDEN, ORIGINAL, STOP
from skerry_runner.middleware.title import Title
from skerry_runner.middleware.title.text import UNTITLED, Exchange, cleaned, exchange, local_title, request
from skerry_runner.models.build import BuiltModel, build_title_model
from skerry_runner.models.internal import Purpose, internal_call
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.threadruns import ThreadRuns

CALL: Any = {"name": "ls", "args": {}, "id": "c1"}
WITH_MODEL = {"title": {"model": "scripted"}}
LOOK = "{say: looking, toolCalls: [{name: ls}]}"


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        ("Weather in Bern", "Weather in Bern"),
        ('"Weather in Bern"', "Weather in Bern"),
        ("« Wetter in Bern »", "Wetter in Bern"),
        ("**Title:** Weather in Bern", "Weather in Bern"),
        ("# Title: `Weather`", "Weather"),
        ("\n\n  Weather \n\nIt is about weather.", "Weather"),
        ("<think>What might\nit be?</think>\nWeather in Bern", "Weather in Bern"),
        ("<think>I never end", ""),
        ("one two three four five six seven", "one two three four five six"),
        ("a" * 70, "a" * 59 + "…"),
        ("word " * 5 + "x" * 60, "word word word word word…"),
        ("bell \x07 and\u202e line", "bell  and line"),
        ("", ""), ("''", ""), ("\ud800", ""),
    ],
)  # fmt: skip
def test_what_a_model_said_becomes_a_title(answer: str, title: str) -> None:
    assert cleaned(answer, 6, 60) == title


@pytest.mark.parametrize(
    ("asked", "title"),
    [
        ("How is\n the  weather?", "How is the weather?"),
        ("", UNTITLED),
        ("  \n ", UNTITLED),
        ("x" * 50, "x" * 50),
        ("Please " * 9, "Please Please Please Please Please Please Please…"),
        ("天" * 60, "天" * 49 + "…"),
    ],
)
def test_without_a_model_it_is_the_request_s_beginning(asked: str, title: str) -> None:
    assert local_title(asked, 60) == title
    assert len(local_title(asked, 20)) <= 20


HELLO = HumanMessage("hello")


@pytest.mark.parametrize(
    ("messages", "found"),
    [
        ([], None),
        ([AIMessage("hi")], None),
        ([HumanMessage("date", additional_kwargs={HIDDEN: True}), AIMessage("hi")], None),
        ([HumanMessage("so far", name="summary"), HELLO, AIMessage("hi")], Exchange("hello", "hi")),
        ([HELLO, AIMessage("hi"), HumanMessage("more"), AIMessage("yes")], Exchange("hello", "yes")),
        ([HumanMessage("<uploads>\nhello", additional_kwargs={ORIGINAL: "hello"}), AIMessage("hi")], Exchange("hello", "hi")),
        ([HumanMessage([{"type": "text", "text": "hello"}]), AIMessage("hi")], Exchange("hello", "hi")),
        ([HELLO, AIMessage(" ")], Exchange("hello", None)),
        ([HELLO, AIMessage("x", tool_calls=[CALL])], Exchange("hello", None)),
        ([HELLO, AIMessage("x", tool_calls=[CALL]), ToolMessage("y", tool_call_id="c1")], Exchange("hello", None)),
        *(([HELLO, AIMessage("no", additional_kwargs={STOP: why})], Exchange("hello", None))
          for why in ("LoopCapped", "SafetyCapped", "SubagentCapped", "ModelError", "TokenCapped", True)),
    ],
)  # fmt: skip
def test_what_is_titled(messages: list[AnyMessage], found: Exchange | None) -> None:
    assert exchange(messages) == found


def test_a_model_sees_the_beginning_of_both() -> None:
    system, human = request(Exchange("a" * 600, "b" * 600), 4)
    assert "at most 4 words" in system.text
    assert human.text == f"Request:\n{'a' * 500}\n\nAnswer:\n{'b' * 500}"


async def test_the_first_answer_brings_the_title_and_the_thread_keeps_it(world: RunnerWorld) -> None:
    runs = ThreadRuns(world, Title())
    first = await runs.play(document(f"steps: [{LOOK}, {{say: done}}]"))
    assert first.progress.title == "Please do it."
    titled = [counters for counters, _ in world.reporter.counters if counters.title]
    assert {counters.turn for counters in titled} == {2}
    second = await runs.play(document(run="r2", prompt="Something else."))
    assert second.progress.title == "Please do it."
    assert [(event["title"], event["source"]) for event in world.sink.events("title")] == [
        ("Please do it.", "local")
    ]


async def test_an_empty_answer_that_is_asked_for_again_brings_none(world: RunnerWorld) -> None:
    runs = ThreadRuns(world, Title())
    await runs.play(document("steps: [{say: ''}, {say: done}]"))
    types = [event["type"] for event in world.sink.events("model.response", "title")]
    assert types == ["model.response", "model.response", "title"]


@pytest.mark.parametrize("pipeline", [{}, WITH_MODEL])
async def test_a_script_that_knows_a_title_is_asked(world: RunnerWorld, pipeline: dict[str, Any]) -> None:
    title = "{purpose: title, say: A fine job, usage: {input: 4, output: 3}, expect: {contains: ['Please do it', done]}}"
    script = f"{{strict: true, steps: [{{say: done, usage: {{input: 1, output: 1}}}}, {title}]}}"
    result = await world.run(document(script, pipeline=pipeline))
    assert (result.answer, result.progress.title) == ("done", "A fine job")
    assert (result.usage.total, result.usage.internal) == (9, 7)
    (event,) = world.sink.events("title")
    assert (event["title"], event["source"], event.get("error")) == ("A fine job", "model", None)


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ("", "the script has no step left for the purpose title"),
        (", {purpose: title, say: ''}", "the answer held no title"),
        (", {purpose: title, error: {status: 401}}", "AuthenticationError"),
        (", {purpose: title, say: late, delaySeconds: 60}", "no answer within 1 s"),
    ],
)
async def test_whatever_goes_wrong_the_run_is_well_and_has_a_title(
    world: RunnerWorld, step: str, error: str
) -> None:
    pipeline = {"title": {"model": "scripted", "timeoutSeconds": 1}}
    result = await world.run(document(f"steps: [{{say: done}}{step}]", pipeline=pipeline))
    assert (result.answer, result.progress.title) == ("done", "Please do it.")
    (event,) = world.sink.events("title")
    assert event["source"] == "local"
    assert error in event["error"]


async def test_no_model_is_asked_when_the_tokens_are_used_up(world: RunnerWorld) -> None:
    script = "steps: [{say: done, usage: {input: 5, output: 5}}, {purpose: title, say: never}]"
    result = await world.run(document(script, max_tokens=10, pipeline=WITH_MODEL))
    assert (result.stop_reason, result.progress.title) == (StopReason.END_TURN, "Please do it.")
    assert (result.progress.model_calls, result.usage.internal) == (1, 0)
    (event,) = world.sink.events("title")
    assert "budget is used up" in event["error"]


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        (f"{LOOK}, {LOOK}", StopReason.TURN_CAPPED),
        ("{say: never, finishReason: content_filter}", StopReason.SAFETY_CAPPED),
        ("{error: {status: 401}}", None),
    ],
)
async def test_a_run_that_a_guard_ended_is_named_after_its_request(
    world: RunnerWorld, steps: str, reason: StopReason | None
) -> None:
    script = f"steps: [{steps}, {{purpose: title, say: from a guard}}]"
    result = await world.run(document(script, max_turns=2, pipeline=WITH_MODEL))
    assert (result.stop_reason, result.progress.title) == (reason, "Please do it.")
    assert len(world.sink.events("title")) == 1


@pytest.mark.parametrize(
    ("own", "title", "built"),
    [
        ("openai:a", None, None),
        ("openai:a", "openai:a", None),
        ("scripted", "openai:b", None),
        ("openai:a", "scripted", None),
        ("openai:a", "openai:b", "b"),
        ("gpt-a", "gpt-b", "gpt-b"),
        ("openai:a", "gpt-b", "gpt-b"),
    ],
)
def test_another_model_may_be_asked_at_the_same_endpoint(
    own: str, title: str | None, built: str | None
) -> None:
    given = document(None, model=own, base_url="http://192.0.2.1/v1", parameters={"temperature": "0.2"},
                     pipeline={"title": {"model": title}})  # fmt: skip
    made = build_title_model(given, api_key="k")
    if built is None:
        assert made is None
        return
    assert made is not None
    model: Any = made.model
    assert (model.model_name, model.temperature, made.endpoint) == (built, None, "http://192.0.2.1/v1")


@pytest.mark.parametrize(
    ("own", "title"), [("anthropic:a", "openai:b"), ("claude-a", "gpt-b"), ("nobody-knows-this", "gpt-b")]
)
def test_another_provider_gets_neither_key_nor_endpoint(
    own: str, title: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = document(None, model=own, base_url="http://192.0.2.1/v1", pipeline={"title": {"model": title}})
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert build_title_model(given, api_key="key-of-anthropic") is None
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-openai")
    made = build_title_model(given, api_key="key-of-anthropic")
    assert made is not None
    model: Any = made.model
    assert (made.endpoint, model.openai_api_base) == (title.partition(":")[0], None)
    assert model.openai_api_key.get_secret_value() == "key-of-openai"


async def test_the_other_model_is_the_one_that_is_called(world: RunnerWorld) -> None:
    def fake(text: str) -> BuiltModel:
        return BuiltModel(GenericFakeChatModel(messages=iter([AIMessage(text)])), "http://192.0.2.1")

    seen: list[str] = []

    class Asks(Title):
        @override
        async def aafter_model(self, state: Any, runtime: Any) -> None:
            context = dataclasses.replace(runtime.context, model=fake("own"), title_model=fake("other"))
            for model in (context.title_model, None):
                answer = await internal_call(context, state, Purpose.TITLE, [HELLO], seconds=5, model=model)
                seen.append(answer.message.text if answer.message else "")

    await ThreadRuns(world, Asks()).play(document())
    assert seen == ["other", "own"]


async def test_no_title_holds_a_secret(world: RunnerWorld) -> None:
    result = await world.run(document(prompt="Is sk-secret-1 my key?"), api_key="sk-secret-1")
    assert result.progress.title == "Is *** my key?"
    assert [event["title"] for event in world.sink.events("title")] == ["Is *** my key?"]
