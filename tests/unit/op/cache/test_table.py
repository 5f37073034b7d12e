"""Newest version wins, in whatever order news arrive."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest

from skerry_operator.cache.table import Entry, Table

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def make() -> Table[str]:
    return Table(lambda value: value.split())


def entry(version: int, value: str = "x", uid: str = "u") -> Entry[str]:
    return Entry(uid, version, value)


def test_older_and_equal_versions_are_no_news() -> None:
    table = make()
    assert table.put("ns", "a", entry(5))
    assert not table.put("ns", "a", entry(5, "other"))
    assert not table.put("ns", "a", entry(4))
    assert table.put("ns", "a", entry(6, "y"))
    assert table.namespace("ns") == ("y",)
    assert len(table) == 1


@pytest.mark.parametrize("order", list(permutations(["made", "changed", "deleted"])))
def test_news_in_any_order_end_the_same(order: tuple[str, ...]) -> None:
    table = make()
    for step in order:
        if step == "deleted":
            table.drop("ns", "a", 7, NOW)
        else:
            table.put("ns", "a", entry(5 if step == "made" else 6))
    assert table.get("ns", "a") is None
    assert table.namespaces() == ()
    assert table.indexed("ns", "x") == ()


def test_a_recreated_object_is_news_after_its_deletion() -> None:
    table = make()
    table.put("ns", "a", entry(5, uid="old"))
    table.drop("ns", "a", 7, NOW)
    assert table.put("ns", "a", entry(8, uid="new"))
    assert table.tombstone("ns", "a") is None
    assert table.drop("ns", "a", 7, NOW) is None, "a late word of the first one's end"
    found = table.get("ns", "a")
    assert found is not None
    assert found.uid == "new"


def test_the_index_follows_values_and_namespaces() -> None:
    table = make()
    table.put("ns", "b", entry(1, "red live"))
    table.put("ns", "a", entry(2, "blue live"))
    table.put("other", "a", entry(3, "red"))
    assert table.indexed("ns", "live") == ("blue live", "red live")
    assert table.indexed("ns", "red") == ("red live",)
    table.put("ns", "b", entry(4, "green"))
    assert table.indexed("ns", "red") == ()
    assert table.indexed("ns", "live") == ("blue live",)
    assert table.indexed("other", "red") == ("red",)


def test_when_it_went_is_when_it_was_first_seen_gone_and_is_forgotten_in_time() -> None:
    table = make()
    table.put("ns", "a", entry(5))
    table.drop("ns", "a", 7, NOW)
    table.drop("ns", "a", 9, NOW + timedelta(seconds=30))
    grave = table.tombstone("ns", "a")
    assert grave is not None
    assert (grave.at, grave.version) == (NOW, 9)
    table.drop("ns", "b", 10, NOW + timedelta(minutes=11))
    assert table.tombstone("ns", "a") is None
    assert table.tombstone("ns", "b") is not None
