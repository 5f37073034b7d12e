"""Estimates of tokens."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from skerry_runner.tokens import PER_IMAGE, PER_MESSAGE, context_size, estimated, fitting

CALL: Any = {"name": "abcd", "args": {}, "id": "1"}
BROKEN: Any = {"name": "x", "args": "12345678", "id": "2", "error": None, "type": "invalid_tool_call"}


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        (HumanMessage(""), 0),
        (HumanMessage("x" * 40), 10),
        (HumanMessage("ж" * 40), 20),
        (HumanMessage("字" * 40), 30),
        (HumanMessage("\ud800" * 40), 10),
        (HumanMessage(["x" * 40, {"type": "text", "text": "x" * 36}]), 20),
        (HumanMessage([{"type": "image", "base64": "x" * 4_000_000}]), PER_IMAGE),
        (HumanMessage([{"type": "image_url", "image_url": {"url": "data:" + "x" * 4_000_000}}]), PER_IMAGE),
        (AIMessage("", tool_calls=[CALL, CALL]), 3),
        (AIMessage("", invalid_tool_calls=[BROKEN]), 2),
        # A call that stands in the content too is counted once.
        (
            AIMessage(
                [{"type": "tool_use", "id": "1", "name": "abcd", "input": {"a": "x" * 400}}],
                tool_calls=[CALL],
            ),
            1,
        ),
    ],
)
def test_a_message(message: BaseMessage, tokens: int) -> None:
    assert estimated([message]) == tokens + PER_MESSAGE
    assert estimated([message, message]) == 2 * (tokens + PER_MESSAGE)


def answer(id_: str, total: int) -> AIMessage:
    return AIMessage(
        "", id=id_, usage_metadata={"input_tokens": 0, "output_tokens": 0, "total_tokens": total}
    )


def test_the_provider_s_count_of_the_newest_answer_goes_first() -> None:
    asked, more = HumanMessage("x" * 40), HumanMessage("x" * 400)
    assert context_size([]) == 0
    assert context_size([asked]) == 14
    assert context_size([asked, answer("a", 900)]) == 900
    assert context_size([asked, answer("a", 900), more]) == 1004
    assert context_size([asked, answer("a", 900), answer("b", 500)]) == 500
    assert context_size([asked, answer("a", 900), AIMessage("")]) == 22
    assert context_size([asked, answer("a", 900)], stale="a") == 18
    assert context_size([asked, answer("a", 900), answer("b", 500)], stale="a") == 500
    # A provider that counts nothing is not believed.
    assert context_size([more, answer("a", 0)]) == 108


@pytest.mark.parametrize(
    ("text", "tokens", "fits"),
    [
        ("", 1, ""),
        ("abcd", 1, "abcd"),
        ("abcde", 1, "abcd"),
        ("ab\ncd\nef", 1, "ab"),
        ("abc\ndef", 1, "abc"),
        ("abcd\nef", 1, "abcd"),
        ("жжж", 1, "жж"),
        ("aжж", 1, "aж"),
    ],
)
def test_what_fits(text: str, tokens: int, fits: str) -> None:
    assert fitting(text, tokens) == fits
