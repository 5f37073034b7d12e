"""Reducers of graph state, and the strict serializer."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_runner.state import (
    RUNS_KEPT,
    TodoItem,
    merge_cursors,
    merge_limits,
    merge_sandbox,
    merge_stop,
    replace_todos,
)


def test_limits_only_grow_and_writing_twice_changes_nothing() -> None:
    one = merge_limits({}, {"r": {"turns": 2, "input": 10}})
    two = merge_limits(one, {"r": {"turns": 1, "output": 5}, "q": {"turns": 7}})
    assert two == {"r": {"turns": 2, "input": 10, "output": 5}, "q": {"turns": 7}}
    assert merge_limits(two, two) == two
    assert merge_limits(None, None) == {}
    assert one == {"r": {"turns": 2, "input": 10}}


def test_runs_of_long_ago_are_forgotten_the_live_one_never() -> None:
    state: Any = {"live": {"turns": 1}}
    for n in range(30):
        state = merge_limits(state, {f"r{n}": {"turns": n}})
        state = merge_limits(state, {"live": {"turns": n}})
    assert len(state) == RUNS_KEPT
    assert (state["live"], state["r29"]) == ({"turns": 29}, {"turns": 29})


def test_the_sandbox_is_one() -> None:
    assert merge_sandbox(None, {"id": "a"}) == {"id": "a"}
    assert merge_sandbox({"id": "a"}, None) == {"id": "a"}
    assert merge_sandbox({"id": "a"}, {"id": "a"}) == {"id": "a"}
    assert merge_sandbox({"id": "a", "pod": "p"}, {"id": "a"}) == {"id": "a", "pod": "p"}
    assert merge_sandbox({"id": "a", "pod": "p"}, {"id": "a", "pod": "q"}) == {"id": "a", "pod": "q"}
    with pytest.raises(ValueError, match="the thread's sandbox is a, not b"):
        merge_sandbox({"id": "a"}, {"id": "b"})


def test_the_first_reason_of_a_run_stands() -> None:
    first: Any = {"run": "r", "reason": "TurnCapped"}
    assert merge_stop(None, first) == first
    assert merge_stop(first, {"run": "r", "reason": "EndTurn"}) == first
    assert merge_stop(first, {"run": "q", "reason": "EndTurn"}) == {"run": "q", "reason": "EndTurn"}
    assert merge_stop(first, None) == first


def test_cursors_never_go_back() -> None:
    assert merge_cursors({"a": 3}, {"a": 2, "b": 1}) == {"a": 3, "b": 1}


def test_a_plan_is_written_as_a_whole() -> None:
    one, two = [TodoItem(content="a", status="pending")], [TodoItem(content="b", status="completed")]
    assert replace_todos(None, one) == replace_todos(two, one) == one
    assert replace_todos(one, None) == one
    assert replace_todos(one, []) == []
    assert replace_todos(None, None) is None
