"""Counters: what they add up, and what status shows of the todos."""

from __future__ import annotations

from skerry_api.agentprofile import ModelPrice
from skerry_api.report import TODO_MAX, TODOS_MAX, TodoStatus, Tokens, Usage
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


def test_a_subagent_that_goes_on_brings_what_it_had_used() -> None:
    price = ModelPrice(input_micro_usd_per_million=3, output_micro_usd_per_million=5)
    run = Tally(lambda _: None, price)
    run.tokens(Tokens(input=1, output=1, total=2))
    child = run.child("sub-1")
    child.restore(Counts(turns=4, model_calls=5, input=10, output=20, total=30, cost=130))
    child.model_call()
    child.tokens(Tokens(input=1, output=0, total=1))
    now, own = run.counts, child.counts
    assert (now.turns, now.model_calls, now.input, now.output, now.total, now.subagents) == (
        0,
        6,
        12,
        21,
        33,
        31,
    )
    assert (own.turns, own.model_calls, own.total, own.cost) == (4, 6, 31, 133)
    assert now.cost == own.cost + 8


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


def test_a_subagent_s_tokens_are_the_run_s_and_its_turns_are_its_own() -> None:
    tally = Tally(
        lambda _: None, ModelPrice(input_micro_usd_per_million=1_500_000, output_micro_usd_per_million=3)
    )
    tally.turn(4)
    tally.tokens(Tokens(input=1, output=1, total=2))
    child = tally.child("x1")
    child.turn(1)
    child.model_call()
    child.tool_call()
    child.tokens(Tokens(input=10, output=5, total=15))
    child.tokens(Tokens(input=1, output=0, total=1), internal=True)
    assert child.counts.usage() == Usage(input=11, output=5, total=16, internal=1, cost_micro_usd=17)
    assert tally.counts.usage() == Usage(
        input=12, output=6, total=18, internal=1, subagents=15, cost_micro_usd=19
    )
    assert child.whole is tally.counts
    assert (tally.counts.turns, tally.counts.model_calls, tally.counts.tool_calls) == (4, 1, 1)
    assert (child.counts.turns, tally.of("x1"), tally.of("x2"), tally.of(None)) == (1, child, tally, tally)


def test_cost_adds_up_without_rounding_and_is_shown_rounded_up() -> None:
    tally = Tally(lambda _: None, ModelPrice(input_micro_usd_per_million=1))
    for _ in range(3):
        tally.tokens(Tokens(input=400_000, total=400_000))
    assert (tally.counts.cost, tally.counts.usage().cost_micro_usd) == (1_200_000, 2)
    unpriced = Tally(lambda _: None)
    unpriced.tokens(Tokens(input=400_000, total=400_000))
    assert unpriced.counts.usage().cost_micro_usd is None


def test_what_an_earlier_epoch_cost_is_kept_when_the_price_changed() -> None:
    tally = Tally(lambda _: None, ModelPrice(input_micro_usd_per_million=1_000_000))
    tally.seed(Counts(input=5, total=5, cost=7_000_000))
    tally.tokens(Tokens(input=1, total=1))
    assert tally.counts.usage() == Usage(input=6, total=6, cost_micro_usd=8)
