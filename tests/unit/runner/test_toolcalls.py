"""Where a message may hold tool calls, and that all of it goes at once."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, messages_from_dict, messages_to_dict
from langchain_core.messages.tool import ToolCall, tool_call_chunk

from skerry_runner.toolcalls import CallSource, append_text, declared_calls, without_calls, without_some_calls

CALL: Any = {"name": "ls", "args": {"path": "/"}, "id": "1", "type": "tool_call"}
BROKEN: Any = {"name": "bash", "args": '{"c', "id": "2", "error": "cut", "type": "invalid_tool_call"}
RAW: Any = {"id": "3", "type": "function", "function": {"name": "rm", "arguments": "{}"}}
BLOCKS: list[Any] = [
    {"type": "thinking", "thinking": "hm"},
    {"type": "text", "text": "so"},
    {"type": "server_tool_call", "id": "s", "name": "web", "args": {}},
    {"type": "tool_use", "id": "1", "name": "ls", "input": {}},
    {"type": "tool_call", "id": "1", "name": "ls", "args": {}},
    {"type": "function_call", "call_id": "1", "name": "ls", "arguments": "{}"},
    {"type": "invalid_tool_call", "id": "2"},
    {"type": "input_json_delta", "partial_json": "{"},
    "plain",
]
EVERYWHERE = AIMessage(
    BLOCKS,
    id="m1",
    name="lead",
    tool_calls=[CALL],
    invalid_tool_calls=[BROKEN],
    additional_kwargs={"tool_calls": [RAW], "function_call": {"name": "x", "arguments": ""}, "kept": 1},
    response_metadata={"finish_reason": "tool_calls", "model_name": "m"},
    usage_metadata={"input_tokens": 1, "output_tokens": 2, "total_tokens": 3},
)


def test_structured_calls_come_before_raw_ones() -> None:
    assert [(c.source, c.id, c.name) for c in declared_calls(EVERYWHERE)] == [
        (CallSource.VALID, "1", "ls"),
        (CallSource.INVALID, "2", "bash"),
    ]


def test_raw_calls_count_where_there_is_nothing_else() -> None:
    message = EVERYWHERE.model_copy(update={"tool_calls": [], "invalid_tool_calls": []})
    assert [(c.source, c.id, c.name, c.text) for c in declared_calls(message)] == [
        (CallSource.RAW, "3", "rm", "{}")
    ]


@pytest.mark.parametrize(
    ("kwargs", "found"),
    [
        ({"function_call": {"name": "x", "arguments": "{}"}}, [(None, "x")]),
        ({"function_call": {}}, []),
        ({"function_call": None, "tool_calls": None}, []),
        ({"tool_calls": []}, []),
        ({"tool_calls": "text"}, []),
        ({"tool_calls": ["text", 5]}, []),
        ({"tool_calls": [{"id": 5, "function": {"name": 6}}]}, [(None, None)]),
        ({"tool_calls": [{"id": "1", "name": "flat", "args": {}}]}, [("1", "flat")]),
    ],
)
def test_raw_calls_of_odd_shapes(kwargs: dict[str, Any], found: list[tuple[str | None, str | None]]) -> None:
    message = AIMessage("").model_copy(update={"additional_kwargs": kwargs})
    assert [(c.id, c.name) for c in declared_calls(message)] == found


def test_all_places_are_cleared_and_the_rest_is_kept() -> None:
    before = EVERYWHERE.model_dump()
    new = without_calls(EVERYWHERE, text="Stopped.", kwargs={"skerry_stop": "x"})
    assert declared_calls(new) == []
    assert (new.tool_calls, new.invalid_tool_calls) == ([], [])
    assert new.additional_kwargs == {"kept": 1, "skerry_stop": "x"}
    assert new.content == [*BLOCKS[:3], "plain", {"type": "text", "text": "Stopped."}]
    assert new.response_metadata == {"finish_reason": "stop", "model_name": "m"}
    assert (new.id, new.name, new.usage_metadata) == ("m1", "lead", EVERYWHERE.usage_metadata)
    assert EVERYWHERE.model_dump() == before


def test_none_comes_back_when_the_message_is_read_again() -> None:
    (again,) = messages_from_dict(messages_to_dict([without_calls(EVERYWHERE)]))
    assert isinstance(again, AIMessage)
    assert declared_calls(again) == []


def test_some_are_taken_out_and_the_others_stay_where_they_were() -> None:
    calls = [
        ToolCall(name=n, args={}, id=i, type="tool_call") for n, i in (("a", "1"), ("b", "2"), ("c", None))
    ]
    raw = [{"id": "1"}, {"id": "2"}, "odd", {"id": None}]
    message = AIMessage("text", id="m", tool_calls=calls, additional_kwargs={"tool_calls": raw, "x": 1})
    some = without_some_calls(message, {1}, text="less", kwargs={"y": 2})
    assert [call["name"] for call in some.tool_calls] == ["a", "c"]
    assert some.additional_kwargs == {"tool_calls": [{"id": "1"}, "odd", {"id": None}], "x": 1, "y": 2}
    assert (some.id, some.content, message.content, len(message.tool_calls)) == (
        "m",
        "text\n\nless",
        "text",
        3,
    )
    assert without_some_calls(message, {0}).content == "text"


def test_chunks_are_cleared_too() -> None:
    chunk = AIMessageChunk(
        content="", tool_call_chunks=[tool_call_chunk(name="ls", args="{}", id="1", index=0)]
    )
    new = without_calls(chunk)
    assert isinstance(new, AIMessageChunk)
    assert (new.tool_calls, new.tool_call_chunks) == ([], [])


@pytest.mark.parametrize(
    ("metadata", "finished"),
    [
        ({"finish_reason": "function_call"}, {"finish_reason": "stop"}),
        ({"stop_reason": "tool_use"}, {"stop_reason": "end_turn"}),
        ({"finish_reason": "length"}, {"finish_reason": "length"}),
        ({"finish_reason": None}, {"finish_reason": None}),
        ({"finish_reason": ["tool_calls"]}, {"finish_reason": ["tool_calls"]}),
        ({}, {}),
    ],
)
def test_a_finish_reason_that_announces_calls_is_a_plain_end(
    metadata: dict[str, Any], finished: dict[str, Any]
) -> None:
    message = AIMessage("", response_metadata=metadata)
    assert without_calls(message).response_metadata == finished
    assert without_calls(message, keep_finish_reason=True).response_metadata == metadata


@pytest.mark.parametrize(
    ("content", "new"),
    [
        ("", "b"),
        (None, "b"),
        ([], "b"),
        ("a", "a\n\nb"),
        ([{"type": "text", "text": "a"}], [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
    ],
)
def test_a_text_is_appended_to_any_content(content: Any, new: Any) -> None:
    assert append_text(content, "b") == new
