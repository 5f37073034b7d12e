"""The rules' Python halves, and that the table holds neither strays nor doubles."""

from __future__ import annotations

from decimal import Decimal
from itertools import product

import pytest

from skerry_api.phases import TERMINAL, RunPhase
from skerry_api.rules import RULES, immutable_field, immutable_whole, key_length, quantity
from skerry_testing.schemas import all_rules

PHASES = [None, *RunPhase]


def test_every_rule_of_the_table_is_used() -> None:
    assert {rule.cel for rule in RULES.values()} <= {rule.cel for rule in all_rules()}


def test_messages_are_words_for_people() -> None:
    for rule in all_rules():
        assert rule.message[0].islower()
        assert not rule.message.endswith(".")
        assert (rule.field_path or ".")[0] == "."


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", "0"), ("1", "1"), ("0.5", "0.5"), ("100m", "0.1"), ("1k", "1000"), ("2M", "2000000"), ("1G", "1e9"),
        ("1T", "1e12"), ("1P", "1e15"), ("1E", "1e18"), ("1Ki", "1024"), ("1.5Mi", "1572864"),
        ("1Gi", "1073741824"), ("1Ti", "1099511627776"), ("1Ei", "1152921504606846976"),
    ],
)  # fmt: skip
def test_quantity(text: str, value: str) -> None:
    assert quantity(text) == Decimal(value)


@pytest.mark.parametrize(("before", "after"), list(product(PHASES, PHASES)))
def test_a_terminal_phase_stays(before: RunPhase | None, after: RunPhase | None) -> None:
    old = {"status": {"phase": before}} if before else {"status": {}}
    new = {"status": {"phase": after}} if after else {}
    assert RULES["terminal-phase"].holds(new, old) == (before not in TERMINAL or after == before)


@pytest.mark.parametrize(
    ("new", "old", "holds"),
    [({}, {}, True), ({"a": 1}, {"a": 1}, True), ({"a": 1}, {"a": 2}, False), ({}, {"a": 1}, False),
     ({"a": 1}, {}, False), ({"b": 1}, {"b": 2}, True)],
)  # fmt: skip
def test_immutable_field(new: dict[str, int], old: dict[str, int], holds: bool) -> None:
    rule = immutable_field("a", required=False)
    assert rule.transition
    assert rule.field_path == ".a"
    assert rule.holds(new, old) is holds


def test_immutable_whole() -> None:
    assert immutable_whole().transition
    assert immutable_whole().holds({"a": {"b": 1}}, {"a": {"b": 1}})
    assert not immutable_whole().holds({"a": {"b": 1}}, {"a": {"b": 2}})


def test_key_length() -> None:
    assert key_length(3).holds({"abc": 1}, None)
    assert not key_length(3).holds({"abcd": 1}, None)


def test_wire_form_leaves_out_what_is_usual() -> None:
    assert RULES["cidr"].wire() == {"rule": "isCIDR(self)", "message": RULES["cidr"].message}
    assert RULES["terminal-phase"].wire()["reason"] == "FieldValueForbidden"
    assert RULES["terminal-phase"].wire()["fieldPath"] == ".status.phase"


@pytest.mark.parametrize(
    ("size", "holds"),
    [({"messages": 1}, True), ({"tokens": 1}, True), ({"fraction": "0.5"}, True), ({}, False),
     ({"messages": 1, "tokens": 1}, False), ({"messages": 1, "tokens": 1, "fraction": "1"}, False)],
)  # fmt: skip
def test_a_size_of_history_has_one_unit(size: dict[str, object], holds: bool) -> None:
    assert RULES["one-history-size"].holds(size, None) is holds


@pytest.mark.parametrize(
    ("keep", "trigger", "holds"),
    [({"messages": 20}, [{"messages": 40}], True), ({"messages": 20}, [{"messages": 20}], False),
     ({"messages": 20}, [{"messages": 40}, {"messages": 10}], False), ({"messages": 20}, [{"tokens": 10}], True),
     ({"tokens": 9}, [{"tokens": 10}], True), ({"tokens": 10}, [{"tokens": 10}], False),
     ({"fraction": "0.09"}, [{"fraction": "0.1"}], True), ({"fraction": "0.10"}, [{"fraction": "0.1"}], False)],
)  # fmt: skip
def test_a_summary_must_keep_less_than_triggers_it(
    keep: dict[str, object], trigger: list[dict[str, object]], holds: bool
) -> None:
    assert RULES["summary-shrinks"].holds({"keep": keep, "trigger": trigger}, None) is holds
