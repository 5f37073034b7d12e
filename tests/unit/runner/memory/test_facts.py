"""Facts: what an answer of the model makes of those that are known."""

from __future__ import annotations

from datetime import timedelta

import pytest

from skerry_api.rows.memory import MemorySettings
from skerry_runner.memory.facts import (
    Category,
    Change,
    Fact,
    MemoryAnswer,
    NewFact,
    changed,
    fact_id,
    over_cap,
)
from skerry_testing.memories import NOON, fact

LATER = NOON + timedelta(hours=1)
TEA, TABS, OSLO = fact("Likes tea."), fact("Uses tabs.", 0.8), fact("Lives in Oslo.", 0.7)


def new(content: str, confidence: float = 0.9) -> NewFact:
    return NewFact(content=content, category=Category.KNOWLEDGE, confidence=confidence)


def change(known: list[Fact], answer: MemoryAnswer, **settings: object) -> Change:
    return changed(known, answer, run="r9", now=LATER, settings=MemorySettings.model_validate(settings))


def contents(result: Change) -> list[str]:
    return [fact.content for fact in result.put]


def test_what_is_sure_is_added_and_what_is_wrong_removed() -> None:
    result = change([TEA, TABS], MemoryAnswer(add=(new("Uses spaces."),), remove=(TABS.id,)))
    assert result.delete == (TABS.id,)
    (put,) = result.put
    assert put == Fact(
        id=fact_id("Uses spaces."), content="Uses spaces.", category=Category.KNOWLEDGE, confidence=0.9,
        run="r9", time=LATER,
    )  # fmt: skip


@pytest.mark.parametrize(("confidence", "kept"), [(0.69, False), (0.7, True), (1, True)])
def test_guesses_are_not_kept(confidence: float, kept: bool) -> None:
    assert bool(change([], MemoryAnswer(add=(new("x y", confidence),))).put) is kept


def test_the_threshold_is_the_profile_s() -> None:
    answer = MemoryAnswer(add=(new("a", 0.3), new("b", 0.2)))
    assert contents(change([], answer, minConfidence="0.3")) == ["a"]


def test_the_same_fact_has_one_place() -> None:
    assert change([TEA], MemoryAnswer(add=(new("  likes  TEA"), new("Likes tea!")))) == Change()
    twice = change(
        [], MemoryAnswer(add=(new("Likes tea", 0.8), new("likes tea.", 0.95), new("LIKES TEA", 0.9)))
    )
    assert [(f.content, f.confidence) for f in twice.put] == [("likes tea.", 0.95)]


def test_surer_words_replace_a_fact() -> None:
    result = change([TABS], MemoryAnswer(add=(new("Uses tabs", 1.0),)))
    assert (contents(result), result.delete) == (["Uses tabs"], ())


def test_a_fact_removed_and_added_again_is_put() -> None:
    result = change([TABS], MemoryAnswer(add=(new("Uses tabs.", 0.75),), remove=(TABS.id,)))
    assert ([f.confidence for f in result.put], result.delete) == ([0.75], ())


def test_ids_that_nobody_knows_are_ignored() -> None:
    assert change([TEA], MemoryAnswer(remove=("nobody", "../x"))) == Change()


def test_above_the_cap_the_least_sure_go_and_of_equals_the_oldest() -> None:
    result = change([TEA, TABS, OSLO], MemoryAnswer(add=(new("Has a cat.", 0.8),)), maxFacts=3)
    assert (contents(result), result.delete) == (["Has a cat."], (OSLO.id,))
    full = change([TEA, TABS], MemoryAnswer(add=(new("Has a cat.", 0.75),)), maxFacts=2)
    assert full == Change()
    assert over_cap([fact("a", minutes=1), fact("b", minutes=2), fact("c", 0.95)], 2) == [
        fact("a", minutes=1)
    ]


def test_a_long_fact_is_left_out_not_cut() -> None:
    answer = MemoryAnswer(add=(new("x" * 21), new("x" * 20)))
    assert contents(change([], answer, maxFactChars=20)) == ["x" * 20]


def test_a_fact_is_one_line_that_hides_nothing() -> None:
    (put,) = change([], MemoryAnswer(add=(new("Likes\n- tea\u202e\x00 a lot"),))).put
    assert put.content == "Likes - tea a lot"
    assert change([], MemoryAnswer(add=(new("\n\x00 "),))) == Change()
