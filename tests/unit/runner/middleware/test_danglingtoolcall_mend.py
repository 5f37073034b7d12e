"""DanglingToolCall's mending of an answer before its calls are run."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from skerry_runner.checkpoint import serializer
from skerry_runner.middleware.danglingtoolcall import mended
from skerry_runner.middleware.danglingtoolcall.mend import CUT, UNKEPT


def call(id_: str | None, name: str = "ls", **args: Any) -> Any:
    return {"name": name, "args": args, "id": id_, "type": "tool_call"}


BROKEN: Any = {"name": "ls", "args": "{", "id": "9", "error": None, "type": "invalid_tool_call"}


def answer(*calls: Any, **kwargs: Any) -> AIMessage:
    return AIMessage("text", id="m1", tool_calls=list(calls), **kwargs)


@pytest.mark.parametrize(
    "message",
    [
        AIMessage("text"),
        answer(call("1"), call("2")),
        answer(call("1"), invalid_tool_calls=[BROKEN]),
        AIMessage("text", response_metadata={"finish_reason": "length"}),
        answer(call("1"), response_metadata={"finish_reason": "tool_calls"}),
        answer(invalid_tool_calls=[BROKEN], response_metadata={"finish_reason": "length"}),
    ],
)
def test_an_answer_that_is_well_is_the_same_object(message: AIMessage) -> None:
    assert mended(message) is message


@pytest.mark.parametrize(
    ("calls", "kept"),
    [
        ([call(None)], [None]),
        ([call(""), call("1")], [None, "1"]),
        ([call("1"), call("1"), call("1")], ["1", None, None]),
        ([call("missing_tool_call_id")], [None]),
    ],
)
def test_every_call_gets_an_id_of_its_own(calls: list[Any], kept: list[str | None]) -> None:
    message = answer(*calls)
    new = mended(message)
    ids = [c["id"] for c in new.tool_calls]
    assert len(set(ids)) == len(calls)
    assert all(id_ and (old is None or id_ == old) for id_, old in zip(ids, kept, strict=True))
    assert (new.id, new.content) == ("m1", "text")
    assert [c["id"] for c in message.tool_calls] == [c["id"] for c in calls]


def test_ids_are_unique_over_valid_and_broken_calls() -> None:
    new = mended(answer(call("9"), invalid_tool_calls=[BROKEN]))
    assert new.tool_calls[0]["id"] == "9"
    assert new.invalid_tool_calls[0]["id"] not in {None, "", "9"}


@pytest.mark.parametrize(
    ("function", "valid"),
    [
        ({"name": "ls", "arguments": {"path": "/"}}, {"path": "/"}),
        ({"name": "ls", "arguments": '{"path": "/"}'}, {"path": "/"}),
        ({"name": "ls", "arguments": '{"path"'}, None),
        ({"name": "ls", "arguments": "[1]"}, None),
        ({"name": "ls", "arguments": None}, None),
        ({"name": None, "arguments": "{}"}, None),
        ("nonsense", None),
    ],
)
def test_raw_calls_are_made_visible(function: Any, valid: dict[str, Any] | None) -> None:
    raw = [{"id": "c1", "type": "function", "function": function}]
    message = AIMessage("text", id="m1").model_copy(
        update={"additional_kwargs": {"tool_calls": raw, "other": 1}}
    )
    new = mended(message)
    assert new.additional_kwargs == {"other": 1}
    if valid is None:
        assert (new.tool_calls, [c["id"] for c in new.invalid_tool_calls]) == ([], ["c1"])
        assert new.invalid_tool_calls[0]["error"]
    else:
        assert [(c["args"], c["id"]) for c in new.tool_calls] == [(valid, "c1")]


@pytest.mark.parametrize(
    "metadata",
    [
        {"finish_reason": "length"}, {"finish_reason": "MAX_TOKENS"}, {"stop_reason": "max_tokens"},
        {"incomplete_details": {"reason": "max_output_tokens"}}, {"done_reason": "length"},
        {"finish_reason": "lengthlength"},
    ],
)  # fmt: skip
def test_the_last_call_of_a_cut_answer_is_not_made(metadata: dict[str, Any]) -> None:
    new = mended(
        answer(call("1"), call("2", "write_file", path="/a", content="hal"), response_metadata=metadata)
    )
    assert [c["id"] for c in new.tool_calls] == ["1"]
    (cut,) = new.invalid_tool_calls
    assert (cut["id"], cut["name"], cut["error"]) == ("2", "write_file", CUT)
    assert new.response_metadata == metadata


def test_of_a_cut_answer_with_a_broken_call_the_others_are_whole() -> None:
    message = answer(call("1"), invalid_tool_calls=[BROKEN], response_metadata={"finish_reason": "length"})
    assert mended(message) is message


def test_blocks_of_calls_go_with_them() -> None:
    content: list[Any] = [
        {"type": "text", "text": "so"},
        {"type": "tool_use", "id": "1", "name": "ls", "input": {}},
    ]
    message = AIMessage(
        content, id="m1", tool_calls=[call("1")], response_metadata={"stop_reason": "max_tokens"}
    )
    assert mended(message).content == content[:1]


def _nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, {"a": [10**30]}, _nested(400)], ids=str)
def test_a_call_that_no_checkpoint_can_hold_is_an_invalid_one(value: Any) -> None:
    message = answer(call("1", path="a"), call("2", value=value))
    with pytest.raises((TypeError, ValueError, RecursionError)):
        serializer().dumps_typed(message)
    kept = mended(message)
    assert [each["id"] for each in kept.tool_calls] == ["1"]
    assert [(each["id"], each["error"]) for each in kept.invalid_tool_calls] == [("2", UNKEPT)]
    serializer().dumps_typed(kept)


@pytest.mark.parametrize("value", [2**64 - 1, -(2**63), True, 1.5, None, _nested(50)], ids=str)
def test_what_a_checkpoint_can_hold_stays(value: Any) -> None:
    message = answer(call("1", value=value))
    assert mended(message) is message
    serializer().dumps_typed(message)
