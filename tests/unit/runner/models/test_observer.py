"""What the observer journals of requests and responses; no text of a request is among it."""

from __future__ import annotations

import hashlib
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from skerry_api.report import Tokens
from skerry_runner.models.observer import (
    AGENT_KEY,
    ModelObserver,
    message_info,
    request_event,
    response_event,
)
from skerry_runner.models.scripted.model import ScriptedModel
from skerry_runner.models.scripted.parse import parse_script
from skerry_runner.models.scripted.playhead import Playhead
from skerry_runner.usage import Counts, Tally
from skerry_testing.runnerworld import RunnerWorld


def test_a_request_is_told_without_its_texts() -> None:
    messages = [SystemMessage("be good"), HumanMessage("top secret", id="m1", name="bob")]
    tools: list[Any] = [
        {"type": "function", "function": {"name": "bash"}},
        {"name": "ls"},
        {"type": "web_search"},
    ]
    event = request_event("q", messages, tools, infos=[message_info(each) for each in messages])
    assert event.system_hash == hashlib.sha256(b"be good").hexdigest()
    assert event.tools == ("bash", "ls", "web_search")
    assert event.body()["messages"] == [
        {"role": "system", "chars": 7},
        {"id": "m1", "role": "human", "name": "bob", "chars": 10},
    ]
    assert "secret" not in str(event.body())


def test_a_response_of_a_provider_without_usage() -> None:
    event = response_event("q", AIMessage("hi\ud800", id="a", response_metadata={"stop_reason": "end_turn"}))
    assert (event.text, event.chars, event.finish_reason, event.usage) == ("hi?", 3, "end_turn", Tokens())


async def test_calls_of_anybody_are_counted_and_failures_known(world: RunnerWorld) -> None:
    tally = Tally(lambda _: None)
    observer = ModelObserver(world.journal, tally)
    text = "steps: [{say: a, usage: {input: 3, output: 2}}, {error: {status: 500}}, {say: b, usage: {input: 1, output: 1}}]"
    model = ScriptedModel(playhead=Playhead(parse_script(text, source="s"), "r"))
    config: Any = {"callbacks": [observer], "metadata": {AGENT_KEY: "helper"}}
    await model.ainvoke("x", config)
    failed: BaseException | None = None
    try:
        await model.ainvoke("x", config)
    except Exception as error:  # noqa: BLE001 - whatever it is
        failed = error
    _ = [chunk async for chunk in model.astream("x", config)]
    assert failed is not None
    wrapped = RuntimeError("outer")
    wrapped.__cause__ = failed
    assert observer.made(failed)
    assert observer.made(wrapped)
    assert not observer.made(ValueError("other"))
    assert tally.counts == Counts(model_calls=3, input=4, output=3, total=7)
    await world.journal.flush()
    events = world.sink.events()
    assert [event["type"] for event in events] == [
        "model.request", "model.response", "model.request", "model.error", "model.request", "model.response",
    ]  # fmt: skip
    assert {event["agent"] for event in events} == {"helper"}
    assert [events[n]["request"] == events[n + 1]["request"] for n in (0, 2, 4)] == [True, True, True]
