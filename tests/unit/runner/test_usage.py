"""Counters: what they add up, and what status shows of the todos."""

from __future__ import annotations

from skerry_api.report import TODO_MAX, TODOS_MAX, TodoStatus, Usage
from skerry_runner.state import TodoItem
from skerry_runner.usage import Counts, Tally, shown_todos


def todo(content: str) -> TodoItem:
    return {"content": content, "status": "in_progress"}


def test_internal_tokens_are_part_of_the_total() -> None:
    told: list[Counts] = []
    tally = Tally(told.append)
    tally.tokens(Usage(input=3, output=1, total=4))
    tally.tokens(Usage(input=5, output=1, total=6), internal=True)
    assert (tally.counts.total, tally.counts.internal, tally.counts.input) == (10, 6, 8)
    assert len(told) == 2


def test_a_plan_that_stays_is_told_once() -> None:
    told: list[Counts] = []
    tally = Tally(told.append)
    tally.plan([])
    tally.plan([todo("a")])
    tally.plan([todo("a")])
    tally.plan([])
    assert [counts.progress().todos is None for counts in told] == [False, True]


def test_status_holds_the_beginning_of_long_lists_and_texts() -> None:
    shown = shown_todos([todo("x" * (TODO_MAX + 1))] * (TODOS_MAX + 1))
    assert shown is not None
    assert len(shown) == TODOS_MAX
    assert (shown[0].content, shown[0].status) == ("x" * TODO_MAX, TodoStatus.IN_PROGRESS)
    assert shown_todos([]) is None
