"""The rows of docs/reference/bad-input.md, for the tests that hold the page to its word."""

from __future__ import annotations

import re
from dataclasses import dataclass

from skerry_testing.controlplane import ROOT

__all__ = ["ROWS", "Row"]


@dataclass(frozen=True)
class Row:
    input: str
    answer: str
    field: str
    proofs: tuple[str, ...]
    """Ids of cases of the table of manifests, or node ids of tests."""


def _row(line: str) -> Row:
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    given, answer, field, proof = cells
    return Row(given, answer, field.strip("`"), tuple(re.findall(r"`([^`]+)`", proof)))


_PAGE = (ROOT / "docs/reference/bad-input.md").read_text(encoding="utf-8")
ROWS: tuple[Row, ...] = tuple(
    _row(line) for line in _PAGE.splitlines() if line.startswith("| ") and not line.startswith("| input ")
)
