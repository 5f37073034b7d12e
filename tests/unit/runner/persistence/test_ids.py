"""Ids made after a resume sort after those that were there, whatever this node's clock says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from langgraph.checkpoint.base import id as checkpoint_ids
from langgraph.checkpoint.base.id import uuid6

from skerry_runner.persistence.ids import stay_after


@pytest.fixture(autouse=True)
def own_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_ids, "_last_v6_timestamp", None)


def made_in(future: timedelta) -> str:
    """An id of a process whose clock is ahead by this."""
    ticks = int((datetime.now(UTC) + future - datetime(1582, 10, 15, tzinfo=UTC)).total_seconds() * 10**7)
    return str(UUID(int=(ticks >> 12) << 80 | 6 << 76 | (ticks & 0xFFF) << 64 | 2 << 62))


@pytest.mark.parametrize("hours", [-1, 0, 1])
def test_the_next_id_is_the_newest(hours: int) -> None:
    head = made_in(timedelta(hours=hours))
    stay_after(head)
    ids = [str(uuid6(clock_seq=step)) for step in range(5)]
    assert sorted([head, *ids]) == [head, *ids]


def test_without_it_a_late_clock_would_write_in_vain() -> None:
    assert str(uuid6()) < made_in(timedelta(hours=1))


@pytest.mark.parametrize("other", ["", "no uuid", "1ef0cf5c-0000-4000-8000-000000000000"])
def test_other_ids_change_nothing(other: str) -> None:
    stay_after(other)
    assert str(uuid6()) < made_in(timedelta(seconds=10))
