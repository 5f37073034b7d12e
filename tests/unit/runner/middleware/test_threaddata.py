"""ThreadData: ids, and the stamp on the message that started the run."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from skerry_runner.middleware.threaddata import check_id, stamped
from skerry_runner.outcome import InvalidDocument
from skerry_testing.runnerworld import RunnerWorld, document

NOW = datetime(2026, 5, 8, 12, 30, tzinfo=UTC)


@pytest.mark.parametrize("value", ["a", "0", "user@example.com", "team:a/b_c-d.e", "x" * 128, "a..b"])
def test_ids_that_are_fine(value: str) -> None:
    check_id("threadId", value)


@pytest.mark.parametrize(
    "value", ["", "..", "a/../b", "a/..", "/a", ".a", "a b", "a\n", "é", "x" * 129, "a\0"]
)
def test_ids_that_are_not(value: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        check_id("threadId", value)
    assert caught.value.outcome.reason == "InvalidId"
    assert caught.value.outcome.message.startswith("threadId: ")


def test_the_stamp_keeps_id_name_and_kwargs() -> None:
    message = HumanMessage("hi", id="m1", name="bob", additional_kwargs={"files": []})
    new = stamped([AIMessage("x"), message], run="r", now=NOW)
    assert new is not None
    assert (new.id, new.name, new.text) == ("m1", "bob", "hi")
    assert new.additional_kwargs == {"files": [], "run_id": "r", "timestamp": "2026-05-08T12:30:00+00:00"}
    assert message.additional_kwargs == {"files": []}


def test_a_message_without_a_name_gets_one() -> None:
    new = stamped([HumanMessage("hi", id="m1")], run="r", now=NOW)
    assert new is not None
    assert new.name == "user-input"


@pytest.mark.parametrize("messages", [[], [HumanMessage("hi"), AIMessage("x")]])
def test_nothing_to_stamp(messages: list[HumanMessage | AIMessage]) -> None:
    assert stamped(messages, run="r", now=NOW) is None


async def test_a_bad_thread_ends_the_run_before_anything_is_called(world: RunnerWorld) -> None:
    result = await world.run(document(thread="../x"))
    assert (result.outcome.class_, result.outcome.reason) == ("InvalidSpec", "InvalidId")
    assert world.sink.events("model.request") == []
