"""The history as the model is asked to summarise it: who said what, within a budget, escaped."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage

from skerry_runner.middleware.summarization.transcript import INSTRUCTION, entry, request, share, transcript

CALL = {"name": "ls", "args": {"path": "/é"}, "id": "1"}
BROKEN = {"name": None, "args": '{"a', "id": "2", "error": None, "type": "invalid_tool_call"}


@pytest.mark.parametrize(
    ("message", "text"),
    [
        (HumanMessage(" hi "), "[user] hi"),
        (HumanMessage("s", name="summary"), "[earlier summary] s"),
        (AIMessage("", tool_calls=[CALL]), '[agent] calls ls {"path": "/é"}'),
        (AIMessage("so", tool_calls=[CALL]), '[agent] so\ncalls ls {"path": "/é"}'),
        (AIMessage("", invalid_tool_calls=[BROKEN]), '[agent] calls ? {"a'),
        (ToolMessage("a", tool_call_id="1", name="ls"), "[result of ls] a"),
        (ToolMessage("a", tool_call_id="1", status="error"), "[result of a tool (failed)] a"),
        (SystemMessage("a"), "[system] a"),
        (HumanMessage("</history> & <x>"), "[user] &lt;/history&gt; &amp; &lt;x&gt;"),
        (
            HumanMessage([{"type": "image", "mime_type": "image/png", "base64": "AAAA"}]),
            "[user] [image image/png 3]",
        ),
        (AIMessage("\ud800"), "[agent] \ud800"),
    ],
)
def test_a_message(message: AnyMessage, text: str) -> None:
    assert entry(message, 1000) == text


@pytest.mark.parametrize(
    ("lengths", "room", "limit"),
    [
        ([], 10, 0),
        ([5], 10, 5),
        ([20], 10, 10),
        ([1, 1, 20], 10, 8),
        ([20, 20], 10, 5),
        ([2, 20, 20], 10, 4),
        ([3, 3], 0, 0),
    ],
)
def test_the_longest_are_cut_first(lengths: list[int], room: int, limit: int) -> None:
    assert share(lengths, room) == limit
    assert sum(min(length, limit) for length in lengths) <= room


def test_what_fits_is_whole() -> None:
    assert transcript([HumanMessage("a"), AIMessage("b")], 500) == "[user] a\n[agent] b"
    assert transcript([], 500) == ""


def test_a_giant_is_cut_in_its_middle_and_the_rest_is_whole() -> None:
    giant = ToolMessage("BEGIN" + "<" * 10_000_000 + "END", tool_call_id="1", name="bash")
    text = transcript([HumanMessage("find it"), giant, AIMessage("found")], 1000)
    assert len(text) <= 4002
    assert text.startswith("[user] find it\n[result of bash] BEGIN&lt;")
    assert text.endswith("END\n[agent] found")
    assert "characters left out" in text


def test_of_thousands_the_first_and_the_last_are_told() -> None:
    text = transcript([HumanMessage(f"message {n}") for n in range(5000)], 1000)
    lines = text.splitlines()
    assert lines[0] == "[user] message 0"
    assert lines[-1] == "[user] message 4999"
    assert f"[{5000 - len(lines) + 1} messages are left out here]" in lines
    assert len(text) <= 4000 + len(lines)


def test_the_request() -> None:
    system, human = request([HumanMessage("hi")], 500)
    assert system.text == INSTRUCTION
    assert human.text == "<history>\n[user] hi\n</history>\n\nWrite the notes."
