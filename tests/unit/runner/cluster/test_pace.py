from __future__ import annotations

import pytest

from skerry_runner.cluster.pace import Pace, due_in, worth_retrying
from skerry_runner.cluster.port import (
    ApiConflict,
    ApiError,
    ApiForbidden,
    ApiNotFound,
    ApiRejected,
    ApiUnauthorized,
    ApiUnavailable,
)

PACE = Pace()


@pytest.mark.parametrize(
    ("changed", "urgent", "written", "expected"),
    [
        (False, False, None, None),
        (False, False, 90.0, None),
        (True, False, None, 0),
        (True, False, 100.0, 15),
        (True, False, 90.0, 5),
        (True, False, 85.0, 0),
        (True, False, 1.0, 0),
        (True, True, 100.0, 0),
    ],
)
def test_due_in(changed: bool, urgent: bool, written: float | None, expected: float | None) -> None:
    assert due_in(changed=changed, urgent=urgent, written=written, now=100, pace=PACE) == expected


@pytest.mark.parametrize(
    ("error", "named", "running_for", "expected"),
    [
        (ApiUnavailable(), True, 9999, True),
        (ApiConflict(), True, 9999, True),
        (ApiForbidden(), True, 29, True),
        (ApiForbidden(), True, 31, False),
        (ApiForbidden(), False, 9999, True),
        (ApiRejected(), False, 1, False),
        (ApiNotFound(), False, 1, False),
        (ApiError(), False, 1, False),
        (ValueError(), False, 1, False),
    ],
)
def test_worth_retrying(error: Exception, named: bool, running_for: float, expected: bool) -> None:
    worth = worth_retrying(error, named=named, running_for=running_for, unauthorized_for=0, pace=PACE)
    assert worth is expected


@pytest.mark.parametrize(("unauthorized_for", "expected"), [(0, True), (59, True), (60, False)])
def test_a_token_that_stays_unknown_is_given_up(unauthorized_for: float, expected: bool) -> None:
    given = {"named": True, "running_for": 9999, "pace": PACE}
    assert worth_retrying(ApiUnauthorized(), unauthorized_for=unauthorized_for, **given) is expected  # type: ignore[arg-type]  # a table of three kinds
