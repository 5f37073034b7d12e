"""docs/reference/bad-input.md: each row names a test that exists, and the fields that this test expects."""

from __future__ import annotations

import re

import pytest

from skerry_gen.main import ROOT
from skerry_testing.manifests import CASES
from skerry_testing.schemas import all_rules

PAGE = (ROOT / "docs/reference/bad-input.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| input ")
]
BY_ID = {case.id: case for case in CASES}


def test_the_page_has_rows() -> None:
    assert len(ROWS) >= 40
    assert all(len(row) == 4 and all(row) for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:60])
def test_a_row_names_its_test(row: list[str]) -> None:
    _input, _answer, field, proof = row
    for name in re.findall(r"`([^`]+)`", proof):
        if name in BY_ID:
            assert field.strip("`") in BY_ID[name].faults
        else:
            path, _, function = name.partition("::")
            assert f"def {function.partition('[')[0]}(" in (ROOT / path).read_text(encoding="utf-8")
    assert "`" in proof


def test_every_rule_has_a_row() -> None:
    messages = {
        rule.message for rule in all_rules() if not re.search(r"can't be|keys must|DNS label", rule.message)
    }
    shown = [row[1] for row in ROWS]
    for message in messages:
        assert any(answer in message or message in answer for answer in shown), message
