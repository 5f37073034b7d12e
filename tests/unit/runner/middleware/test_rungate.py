"""RunGate's decisions; how they act in a run is in test_run.py."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.types import Command

from skerry_runner.messages import STOP
from skerry_runner.middleware.rungate import RunGate, asks_again, may_call, only_broken_calls, tool_message_of
from skerry_runner.state import RunLimits

CALL: Any = {"name": "ls", "args": {}, "id": "c1"}
BROKEN: Any = {"name": "ls", "args": "{", "id": "c1", "error": None, "type": "invalid_tool_call"}


@pytest.mark.parametrize(("turns", "allowed"), [(None, True), (0, True), (2, True), (3, False), (9, False)])
def test_turns_are_counted_before_the_call(turns: int | None, allowed: bool) -> None:
    assert may_call(RunLimits() if turns is None else RunLimits(turns=turns), 3) is allowed


@pytest.mark.parametrize(
    ("last", "asked", "again"),
    [
        (AIMessage("text"), 0, False),
        (AIMessage(""), 0, True),
        (AIMessage(" \n"), 0, True),
        (AIMessage(""), 1, False),
        (AIMessage([{"type": "thinking", "thinking": "hm"}]), 0, True),
        (AIMessage("", tool_calls=[CALL]), 0, False),
        (AIMessage("", invalid_tool_calls=[BROKEN]), 0, False),
        (AIMessage("", additional_kwargs={STOP: True}), 0, False),
        (HumanMessage(""), 0, False),
    ],
)
def test_silence_is_asked_about_once(last: AnyMessage, asked: int, again: bool) -> None:
    assert asks_again([HumanMessage("go"), last], RunLimits(empty_answers=asked)) is again


@pytest.mark.parametrize(
    ("last", "on"),
    [
        (AIMessage("", invalid_tool_calls=[BROKEN]), True),
        (AIMessage("let me write it", invalid_tool_calls=[BROKEN]), True),
        (AIMessage("", invalid_tool_calls=[BROKEN], tool_calls=[CALL]), False),
        (AIMessage("", invalid_tool_calls=[BROKEN], additional_kwargs={STOP: True}), False),
        (AIMessage("text"), False),
        (HumanMessage("go"), False),
    ],
)
def test_a_turn_of_broken_calls_is_no_end(last: AnyMessage, on: bool) -> None:
    assert only_broken_calls([HumanMessage("go"), last]) is on
    assert not only_broken_calls([])


def test_nothing_said_is_not_asked_about() -> None:
    assert not asks_again([], RunLimits())


def test_a_result_is_found_in_whatever_a_tool_gives() -> None:
    mine, other = ToolMessage("a", tool_call_id="c1"), ToolMessage("b", tool_call_id="c2")
    assert tool_message_of(mine, "c1") is mine
    assert tool_message_of(Command(update={"messages": [other, mine, AIMessage("x")]}), "c1") is mine
    assert tool_message_of(Command(update={"messages": [other]}), "c1") is None
    assert tool_message_of(Command(update=[("messages", [mine])]), "c1") is None
    assert tool_message_of(Command(goto="x"), "c1") is None


def test_where_it_may_jump_is_declared() -> None:
    assert RunGate.abefore_model.__can_jump_to__ == ["end"]  # type: ignore[attr-defined]  # set by hook_config
    assert RunGate.aafter_model.__can_jump_to__ == ["model"]  # type: ignore[attr-defined]  # as above
