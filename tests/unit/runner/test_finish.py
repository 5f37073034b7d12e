"""Why a provider says that it ended an answer."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage

from skerry_runner.finish import cut_by_length, finish_values, same_word


@pytest.mark.parametrize(
    ("said", "word", "same"),
    [
        ("length", "length", True), ("LENGTH", "length", True), (" Length ", "LENGTH", True), ("lengthlength", "length", True),
        ("lengthstop", "length", False), ("len", "length", False), ("lengths", "length", False), ("", "length", False),
    ],
)  # fmt: skip
def test_words(said: str, word: str, same: bool) -> None:
    assert same_word(said, word) is same


def test_metadata_comes_before_kwargs_and_dots_lead_into_objects() -> None:
    message = AIMessage(
        "", response_metadata={"a": {"b": "one"}, "n": 5}, additional_kwargs={"a": {"b": "two"}, "n": "text"}
    )
    assert list(finish_values(message, "a.b")) == ["one", "two"]
    assert list(finish_values(message, "n")) == ["text"]
    assert list(finish_values(message, "a")) == list(finish_values(message, "a.b.c")) == []


@pytest.mark.parametrize(
    ("metadata", "cut"),
    [
        ({"finish_reason": "length"}, True),
        ({"finish_reason": "MAX_TOKENS"}, True),
        ({"stop_reason": "max_tokens"}, True),
        ({"stop_reason": "model_context_window_exceeded"}, True),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, True),
        ({"done_reason": "length"}, True),
        ({"finish_reason": "stop"}, False),
        ({"finish_reason": 1}, False),
        ({"incomplete_details": None}, False),
        ({}, False),
    ],
)
def test_cut_by_length(metadata: dict[str, Any], cut: bool) -> None:
    assert cut_by_length(AIMessage("x", response_metadata=metadata)) is cut
