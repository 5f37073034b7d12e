"""Catalogues of deferred tools, and which promotions hold for which."""

from __future__ import annotations

import pytest

from skerry_runner.deferred import Catalogue, DeferredTool, carried, digest_of
from skerry_runner.state import Promoted, merge_promoted
from skerry_testing.deferredtools import plain_tool


def catalogue(*names: str, digest: str = "d") -> Catalogue:
    return Catalogue(tuple(DeferredTool(plain_tool(name), "srv", digest) for name in names))


def promoted(of: Catalogue, *names: str) -> Promoted:
    return Promoted(catalogue=of.hash, names=list(names))


def test_the_hash_tells_tools_and_their_texts_but_not_their_order() -> None:
    assert catalogue("a", "b").hash == catalogue("b", "a").hash
    assert len(catalogue("a").hash) == 16
    hashes = {
        catalogue().hash,
        catalogue("a").hash,
        catalogue("a", "b").hash,
        catalogue("a", digest="e").hash,
    }
    assert len(hashes) == 4


def test_promotions_hold_for_their_catalogue_alone() -> None:
    one, other = catalogue("a", "b", "c"), catalogue("a", "b")
    assert [each.name for each in one.promoted(promoted(one, "c", "a", "gone"))] == ["a", "c"]
    assert other.promoted(promoted(one, "a")) == ()
    assert one.promoted(None) == ()


@pytest.mark.parametrize(
    ("now", "kept"),
    [
        (catalogue("a", "b", "new"), ["a", "b"]),
        (catalogue("a", "new"), ["a"]),
        (catalogue("a", "b", "c", digest="changed"), []),
        (catalogue("a", "b", "c"), []),
    ],
    ids=["grown", "one is gone", "other texts", "the same: the reducer keeps them"],
)
def test_what_is_carried_over(now: Catalogue, kept: list[str]) -> None:
    before = catalogue("a", "b", "c")
    assert carried(promoted(before, "a", "b"), before, now) == kept
    assert carried(promoted(catalogue("x"), "a"), before, now) == []
    assert carried(None, before, now) == []


def test_the_reducer() -> None:
    one, two = Promoted(catalogue="1", names=["a", "b"]), Promoted(catalogue="1", names=["c", "a"])
    other = Promoted(catalogue="2", names=["z"])
    assert merge_promoted(one, two) == {"catalogue": "1", "names": ["a", "b", "c"]}
    assert merge_promoted(merge_promoted(one, two), two) == merge_promoted(one, two)
    assert merge_promoted(one, other) == other
    assert merge_promoted(one, None) == one
    assert merge_promoted(None, one) == one
    assert merge_promoted(None, None) is None


def test_digests_know_where_a_part_ends() -> None:
    assert digest_of(("ab", "c")) != digest_of(("a", "bc"))
    assert digest_of(("a\udcff",))
