"""Whose the Lease is, judged by what was seen and when."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from skerry_operator.lease import Create, Seen, Step, Take, Terms, Wait, decide, lease_body, observe, pause

TERMS = Terms(duration=15, renew=10, interval=3, retry=2)
NOW = datetime(2026, 1, 1, 12, 0, 0, 123456, tzinfo=UTC)


def lease(version: str = "1", holder: str = "other", **spec: Any) -> dict[str, Any]:
    return {"metadata": {"resourceVersion": version}, "spec": {"holderIdentity": holder, **spec}}


def seen(holder: str, since: float, duration: float = 15) -> Seen:
    return Seen(holder, "1", duration, since)


@pytest.mark.parametrize(
    ("what", "now", "expected"),
    [
        (None, 0, Create()),
        (seen("", 100), 100, Take()),  # released
        (seen("me", 100), 100, Take()),  # a renewal, or our predecessor in this very Pod
        (seen("other", 100), 114.9, Wait("other")),
        (seen("other", 100), 115, Take()),
        (seen("other", 100, duration=60), 115, Wait("other")),  # the holder's own word counts
    ],
)
def test_decide(what: Seen | None, now: float, expected: Step) -> None:
    assert decide(what, "me", now) == expected


@pytest.mark.parametrize(
    ("what", "renewed", "now", "random", "expected"),
    [
        (None, True, 100, 0.5, 3),  # ours, and well
        (None, True, 100, 0.0, 2.4),
        (None, False, 100, 0.5, 2),  # ours, and the renewal failed: sooner
        (seen("other", 100), False, 101, 0.5, 2),
        (seen("other", 100), False, 113.5, 0.0, 1.5),  # not a moment later than it may have run out
        (seen("other", 100), False, 113.5, 0.5, 1.6),  # two standbys need not meet
        (seen("other", 100), False, 115, 0.5, 2),  # tried, and somebody else got it
        (seen("other", 100, duration=60), False, 113.5, 0.5, 2),
    ],
)
def test_when_to_look_next(
    what: Seen | None, renewed: bool, now: float, random: float, expected: float
) -> None:
    found = pause(what, renewed=renewed, now=now, terms=TERMS, random=random)
    assert found == pytest.approx(expected)


def test_the_age_goes_on_only_while_nothing_changes() -> None:
    first = observe(None, lease("1"), 100, TERMS)
    assert first.since == 100
    assert observe(first, lease("1"), 110, TERMS).since == 100
    assert observe(first, lease("2"), 110, TERMS).since == 110


def test_a_renew_time_of_long_ago_does_not_make_a_lease_old() -> None:
    ancient = lease("1", renewTime="2001-01-01T00:00:00.000000Z", leaseDurationSeconds=15)
    found = observe(None, ancient, 100, TERMS)
    assert decide(found, "me", 100) == Wait("other")


@pytest.mark.parametrize("odd", [None, 0, -5, "15"])
def test_a_senseless_duration_is_replaced_by_ours(odd: object) -> None:
    assert observe(None, lease(leaseDurationSeconds=odd), 1, TERMS).duration == 15


def body(before: dict[str, Any] | None, identity: str = "me") -> dict[str, Any]:
    return lease_body(before, namespace="ns", name="n", identity=identity, now=NOW, terms=TERMS)


def test_a_new_lease() -> None:
    made = body(None)
    assert "resourceVersion" not in made["metadata"]
    assert made["spec"] == {
        "holderIdentity": "me",
        "leaseDurationSeconds": 15,
        "acquireTime": "2026-01-01T12:00:00.123456Z",
        "renewTime": "2026-01-01T12:00:00.123456Z",
        "leaseTransitions": 0,
    }


def test_taking_over_counts_renewing_does_not() -> None:
    taken = body(lease("7", leaseTransitions=3, acquireTime="then"))
    assert taken["metadata"]["resourceVersion"] == "7"
    assert (taken["spec"]["leaseTransitions"], taken["spec"]["acquireTime"]) == (
        4,
        taken["spec"]["renewTime"],
    )
    renewed = body(lease("8", "me", leaseTransitions=4, acquireTime="then"))
    assert (renewed["spec"]["leaseTransitions"], renewed["spec"]["acquireTime"]) == (4, "then")


def test_releasing_leaves_nobody_and_no_wait() -> None:
    spec = body(lease("7", "me"), "")["spec"]
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"]) == ("", 1)
