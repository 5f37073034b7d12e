"""How often, and after what wait."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from skerry_api.phases import ModelErrorReason
from skerry_api.rows.llmerrorhandling import LLMErrorHandlingSettings
from skerry_runner.llm.delays import Wait, attempts_for, wait_after
from skerry_runner.llm.failure import Failure, FailureKind

SETTINGS = LLMErrorHandlingSettings()
DOWN = Failure(FailureKind.TRANSIENT, ModelErrorReason.SERVER_ERROR, "E", "m")
BURST = replace(DOWN, kind=FailureKind.BURST, reason=ModelErrorReason.BURST_LIMITED)
STALLED = replace(DOWN, stalled=True)


def low(first: float, _second: float) -> float:
    return first


def high(_first: float, second: float) -> float:
    return second


@pytest.mark.parametrize(
    ("failure", "settings", "attempts"),
    [
        (DOWN, {}, 3),
        (BURST, {}, 2),
        (STALLED, {}, 2),
        (DOWN, {"max_attempts": 5}, 5),
        (BURST, {"max_attempts": 1}, 1),
        (STALLED, {"max_attempts": 1}, 1),
        (BURST, {"max_attempts": 9, "burst_max_attempts": 4}, 4),
    ],
)
def test_attempts_in_all(failure: Failure, settings: dict[str, Any], attempts: int) -> None:
    assert attempts_for(failure, SETTINGS.model_copy(update=settings)) == attempts


@pytest.mark.parametrize("kind", [FailureKind.QUOTA, FailureKind.AUTH, FailureKind.GENERIC])
def test_what_no_repetition_helps_is_not_repeated(kind: FailureKind) -> None:
    failure = replace(DOWN, kind=kind, retry_after=1.0)
    assert wait_after(failure, 1, 0.0, SETTINGS, low) is None


def test_the_last_attempt_has_no_wait_behind_it() -> None:
    assert wait_after(DOWN, 2, 0.0, SETTINGS, low) is not None
    assert wait_after(DOWN, 3, 0.0, SETTINGS, low) is None
    assert wait_after(BURST, 2, 0.0, SETTINGS, low) is None


def test_waits_grow_at_random_up_to_the_cap() -> None:
    settings = SETTINGS.model_copy(update={"max_attempts": 10})
    waits, grown = [], 0.0
    for attempt in range(1, 6):
        wait = wait_after(DOWN, attempt, grown, settings, high)
        assert wait is not None
        waits.append(wait.seconds)
        grown = wait.grown
    assert waits == [3.0, 8.0, 8.0, 8.0, 8.0]
    assert wait_after(DOWN, 1, 8.0, settings, low) == Wait(1.0, 1.0)


@pytest.mark.parametrize(("grown", "longest"), [(0.0, 8.0), (5.0, 8.0)])
def test_a_burst_waits_longer(grown: float, longest: float) -> None:
    assert wait_after(BURST, 1, grown, SETTINGS, low) == Wait(5.0, 5.0)
    assert wait_after(BURST, 1, grown, SETTINGS, high) == Wait(longest, longest)


def test_a_cap_below_the_base_is_the_base() -> None:
    settings = SETTINGS.model_copy(update={"base_delay_milliseconds": 2000, "max_delay_milliseconds": 10})
    assert wait_after(DOWN, 1, 0.0, settings, high) == Wait(2.0, 2.0)


def test_no_base_is_no_wait() -> None:
    settings = SETTINGS.model_copy(update={"base_delay_milliseconds": 0})
    assert wait_after(DOWN, 1, 0.0, settings, high) == Wait(0.0, 0.0)


def test_a_wait_that_is_asked_for_is_taken_as_it_stands() -> None:
    asked = replace(DOWN, retry_after=42.5)
    assert wait_after(asked, 1, 2.0, SETTINGS, high) == Wait(42.5, 2.0)
    assert wait_after(replace(BURST, retry_after=0.0), 1, 2.0, SETTINGS, high) == Wait(0.0, 2.0)


def test_a_wait_beyond_the_bound_is_not_waited() -> None:
    assert wait_after(replace(DOWN, retry_after=300.0), 1, 0.0, SETTINGS, low) == Wait(300.0, 0.0)
    assert wait_after(replace(DOWN, retry_after=300.1), 1, 0.0, SETTINGS, low) is None
