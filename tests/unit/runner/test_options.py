"""Options of a question, in all the ways in which models write them."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_api.report import OPTION_MAX, OPTIONS_MAX
from skerry_runner.options import options_of

AB = ("SQLite", "Postgres")


@pytest.mark.parametrize(
    ("raw", "options"),
    [
        (None, ()),
        ("", ()),
        ([], ()),
        ({}, ()),
        (["SQLite", "Postgres"], AB),
        (("SQLite", "Postgres"), AB),
        (["SQLite", " SQLite ", "", "  ", "Postgres"], AB),
        (["one\n two"], ("one two",)),
        (["- kept [as] it is"], ("- kept [as] it is",)),
        ([1, 2.5, True, False, None], ("1", "2.5", "yes", "no")),
        ('["SQLite", "Postgres"]', AB),
        (' [{"label": "SQLite"}, {"label": "Postgres"}] ', AB),
        ('{"options": ["SQLite", "Postgres"]}', AB),
        ("SQLite", ("SQLite",)),
        ("3", ("3",)),
        ('"quoted"', ('"quoted"',)),
        ("SQLite\nPostgres", AB),
        ("- SQLite\n* Postgres", AB),
        ("1. SQLite\n2) Postgres", AB),
        ("a) SQLite\n(b) Postgres", AB),
        ("<options><option>SQLite</option><option id='2'>Postgres</option></options>", AB),
        ("<item>SQLite</item><ITEM>Postgres</ITEM>", AB),
        ({"choices": ["SQLite", {"text": "Postgres"}]}, AB),
        ({"options": {"a": "SQLite", "b": ""}}, ("a: SQLite", "b")),
        ({"a": "SQLite", "b": 2, "c": None, "d": ["x"]}, ("a: SQLite", "b: 2", "c", "d")),
        ([{"label": "SQLite", "description": "a file"}, {"value": "Postgres"}], AB),
        ([["SQLite"], ["Postgres"]], AB),
        ("[broken", ("[broken",)),
        ("half \ud800", ("half ?",)),
        ([[[[[["too deep"]]]]]], ()),
    ],
)
def test_options(raw: Any, options: tuple[str, ...]) -> None:
    assert options_of(raw) == options


def test_they_are_bounded_in_number_and_length() -> None:
    found = options_of([f"{n} " + "x" * 500 for n in range(50)])
    assert len(found) == OPTIONS_MAX
    assert {len(option) for option in found} == {OPTION_MAX}
    assert found[0].endswith("…")


def test_a_deep_text_does_not_break_it() -> None:
    assert options_of("[" * 100_000) == (("[" * (OPTION_MAX - 1)) + "…",)
