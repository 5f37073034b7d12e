"""Notes on results of tools."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from skerry_runner.toolresults import headed, marked

BLOCKS: list[Any] = [{"type": "image"}]
NOTE = {"type": "text", "text": "note"}


@pytest.mark.parametrize(
    ("content", "first", "last"),
    [
        ("out", "note\n\nout", "out\n\nnote"),
        ("", "note", "note"),
        (BLOCKS, [NOTE, *BLOCKS], [*BLOCKS, NOTE]),
    ],
)
def test_a_note_stands_before_or_behind_and_all_else_stays(content: Any, first: Any, last: Any) -> None:
    message = ToolMessage(content, tool_call_id="c1", id="m", status="error", artifact=1)
    for change, expected in ((headed, first), (marked, last)):
        made = change(message, "c1", "note")
        assert isinstance(made, ToolMessage)
        assert made.content == expected
        assert made.model_dump(exclude={"content"}) == message.model_dump(exclude={"content"})


def test_of_a_command_s_messages_it_is_the_call_s() -> None:
    other, own = ToolMessage("other", tool_call_id="c2"), ToolMessage("out", tool_call_id="c1")
    made = headed(Command(update={"messages": [other, own], "x": 1}, goto="there"), "c1", "note")
    assert isinstance(made, Command)
    assert isinstance(made.update, dict)
    assert [message.content for message in made.update["messages"]] == ["other", "note\n\nout"]
    assert (made.update["x"], made.goto) == (1, "there")


@pytest.mark.parametrize("command", [Command(goto="x"), Command(update=[("a", 1)]), Command(update={"a": 1})])
def test_a_command_without_messages_stays_as_it_is(command: Command[Any]) -> None:
    assert marked(command, "c1", "note") is command
