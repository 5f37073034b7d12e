"""The table of values in docs/helm.md is the chart's own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gen_helm_docs import BEGIN, END, PAGE, main, rows, with_table

ROOT = Path(__file__).resolve().parents[3]
SCHEMA = {
    "properties": {
        "a": {"properties": {"b": {"type": "integer", "description": "B | b."}}, "description": "A."},
        "list": {"description": "L.", "items": {"properties": {"c": {"description": "C."}}}},
    }
}


def test_the_page_is_up_to_date() -> None:
    assert main(["--check"]) == 0, "run make gen"


def test_groups_are_left_out_and_lists_opened() -> None:
    assert list(rows(SCHEMA, {"a": {"b": 1}, "list": []})) == [
        ("a.b", "1", "B | b."),
        ("list", "[]", "L."),
        ("list[].c", "", "C."),
    ]


def test_the_table_stands_between_its_marks() -> None:
    page = with_table(f"before\n{BEGIN}\nold\n{END}\nafter\n", SCHEMA, {"a": {"b": 1}, "list": []})
    assert page.startswith(f"before\n{BEGIN}\n| value |")
    assert page.endswith(f"| C. |\n{END}\nafter\n")
    assert "| `a.b` | `1` | B \\| b. |" in page
    with pytest.raises(ValueError, match="lacks"):
        with_table("no marks", SCHEMA, {})


def test_a_stale_page_is_found_and_mended(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "charts" / "skerry", tmp_path / "charts" / "skerry")
    page = tmp_path / PAGE
    page.parent.mkdir()
    page.write_text(f"{BEGIN}\n{END}\n", encoding="utf-8")
    assert main(["--check"], tmp_path) == 1
    assert page.read_text(encoding="utf-8") == f"{BEGIN}\n{END}\n"
    assert main([], tmp_path) == 0
    assert main(["--check"], tmp_path) == 0
