"""Limits of tokens and money: checked before every call, whoever makes it, and kept over epochs."""

from __future__ import annotations

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage

from skerry_api.phases import OutcomeClass, StopReason
from skerry_runner.budget import Budget, Cap
from skerry_runner.models.observer import ModelObserver
from skerry_runner.usage import Counts, Tally
from skerry_testing.runnerworld import RunnerWorld, document

LOOK = "{say: looking, toolCalls: [{name: ls}], usage: {input: 60, output: 40}}"
DONE = "{say: done, usage: {input: 60, output: 40}}"
A_DOLLAR_A_TOKEN = (1_000_000_000_000, 1_000_000_000_000)
MICRO_EACH = (1_000_000, 1_000_000)
"""A micro-dollar for each token."""


@pytest.mark.parametrize(
    ("budget", "total", "cost", "cap"),
    [
        (Budget(), 10**9, 10**15, None),
        (Budget(max_tokens=100), 99, 0, None),
        (Budget(max_tokens=100), 100, 0, StopReason.TOKEN_CAPPED),
        (Budget(max_cost_micro_usd=2), 0, 1_999_999, None),
        (Budget(max_cost_micro_usd=2), 0, 2_000_000, OutcomeClass.BUDGET_EXCEEDED),
        (Budget(max_tokens=1, max_cost_micro_usd=2), 1, 2_000_000, OutcomeClass.BUDGET_EXCEEDED),
    ],
)
def test_what_is_used_up(budget: Budget, total: int, cost: int, cap: Cap | None) -> None:
    assert budget.spent(Counts(total=total, cost=cost)) is cap


async def test_tokens_end_a_run_before_its_next_call(world: RunnerWorld) -> None:
    script = f"steps: [{LOOK}, {LOOK}, {DONE}]"
    result = await world.run(document(script, max_tokens=150))
    assert (result.outcome.class_, result.stop_reason) == (OutcomeClass.SUCCEEDED, StopReason.TOKEN_CAPPED)
    # The last call may go over the limit; what was said before it is the answer.
    assert (result.usage.total, result.progress.model_calls, result.answer) == (200, 2, "looking")
    assert len(world.sink.events("tool.result")) == 2


async def test_an_answer_that_uses_up_the_tokens_is_an_answer(world: RunnerWorld) -> None:
    result = await world.run(document(f"steps: [{LOOK}, {DONE}]", max_tokens=200))
    assert (result.answer, result.stop_reason) == ("done", StopReason.END_TURN)


async def test_money_fails_a_run_before_its_next_call(world: RunnerWorld) -> None:
    result = await world.run(document(f"steps: [{LOOK}, {DONE}]", max_cost=100, price=MICRO_EACH))
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.BUDGET_EXCEEDED, "CostLimit")
    assert result.outcome.message.startswith("limits.maxCostMicroUSD is used up")
    assert (result.stop_reason, result.answer) == (None, None)
    assert (result.usage.cost_micro_usd, result.progress.model_calls) == (100, 1)


async def test_prices_of_input_and_output_differ(world: RunnerWorld) -> None:
    result = await world.run(document(f"steps: [{LOOK}, {DONE}]", price=(2_500_000, 10_000_000)))
    assert result.usage.cost_micro_usd == 2 * (150 + 400)


async def test_large_prices_are_kept_in_state(world: RunnerWorld) -> None:
    result = await world.run(document(f"steps: [{LOOK}, {DONE}]", price=A_DOLLAR_A_TOKEN))
    assert result.usage.cost_micro_usd == 200_000_000


SUMMARY = {"summarization": {"enabled": True, "trigger": [{"messages": 6}], "keep": {"messages": 2}}}


async def test_a_summary_counts_and_the_call_behind_it_is_not_made(world: RunnerWorld) -> None:
    summary = "{purpose: summary, say: All went well., usage: {input: 30, output: 20}}"
    script = f"steps: [{LOOK}, {LOOK}, {DONE}, {summary}]"
    result = await world.run(document(script, max_tokens=250, pipeline=SUMMARY))
    assert (result.stop_reason, result.answer) == (StopReason.TOKEN_CAPPED, "looking")
    assert (result.usage.total, result.usage.internal, result.progress.model_calls) == (250, 50, 3)
    assert len(world.sink.events("summary")) == 1


HAND_ON = "{toolCalls: [{name: task, args: {prompt: Dig., subagent_type: general-purpose, description: dig}}], usage: {input: 5, output: 5}}"
DIG = "{agent: general-purpose, say: digging, toolCalls: [{name: ls}], usage: {input: 60, output: 40}}"


@pytest.mark.parametrize(
    ("limits", "ends"),
    [
        ({"max_tokens": 150}, (OutcomeClass.SUCCEEDED, StopReason.TOKEN_CAPPED)),
        ({"max_cost": 150}, (OutcomeClass.BUDGET_EXCEEDED, None)),
    ],
)
async def test_a_subagent_spends_the_run_s_budget(
    world: RunnerWorld, limits: dict[str, int], ends: tuple[OutcomeClass, StopReason | None]
) -> None:
    script = f"steps: [{HAND_ON}, {DIG}, {DIG}, {DIG}, {DONE}]"
    given = document(script, price=MICRO_EACH, subagents={"enabled": True}, **limits)  # type: ignore[arg-type]  # ints by name
    result = await world.run(given)
    assert (result.outcome.class_, result.stop_reason) == ends
    # One call of the lead's and two of the subagent's; then neither may call again.
    assert (result.progress.model_calls, result.usage.total, result.usage.subagents) == (3, 210, 200)
    assert result.usage.cost_micro_usd == 210
    (end,) = world.sink.events("subagent.end")
    assert end["usage"]["total"] == 200


async def test_a_call_that_nobody_counted_counts_by_estimate(world: RunnerWorld) -> None:
    tally = Tally(lambda _: None)
    observer = ModelObserver(world.journal, tally)
    model = GenericFakeChatModel(messages=iter([AIMessage("b" * 40)]), callbacks=[observer])
    await model.ainvoke([HumanMessage("a" * 400)])
    assert (tally.counts.input, tally.counts.output, tally.counts.total) == (104, 14, 118)
