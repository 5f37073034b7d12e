"""Patterns of scripts: found, not found, and not found out."""

from __future__ import annotations

import pytest

from skerry_runner.models.scripted.patterns import search


@pytest.mark.parametrize(("pattern", "found"), [("b+", "bb"), ("x", None), ("", ""), ("(?i)BB", "bb")])
def test_search(pattern: str, found: str | None) -> None:
    assert search(pattern, "abbc") == found


def test_a_pattern_that_backtracks_for_ever_ends() -> None:
    with pytest.raises(TimeoutError):
        search("(a|aa)+$", "a" * 200 + "!", seconds=0.2)
