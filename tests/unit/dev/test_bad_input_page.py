"""docs/reference/bad-input.md: each row names a test that exists, and the fields that this test expects."""

from __future__ import annotations

import re

import pytest

from skerry_testing.badinput import ROWS, Row
from skerry_testing.controlplane import ROOT
from skerry_testing.manifests import CASES
from skerry_testing.schemas import all_rules

BY_ID = {case.id: case for case in CASES}


def test_the_page_has_rows() -> None:
    assert len(ROWS) >= 40
    assert all(row.input and row.answer and row.field and row.proofs for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.input[:60])
def test_a_row_names_its_tests(row: Row) -> None:
    for proof in row.proofs:
        if proof in BY_ID:
            assert row.field in BY_ID[proof].faults
        else:
            path, _, function = proof.partition("::")
            assert f"def {function.partition('[')[0]}(" in (ROOT / path).read_text(encoding="utf-8")


def test_every_rule_has_a_row() -> None:
    messages = {rule.message for rule in all_rules() if not re.search(r"can't be|keys must", rule.message)}
    for message in messages:
        assert any(row.answer in message for row in ROWS), message
