"""docs/reference/middlewares.md: a row for each of the table's, in order, with its hooks and its settings."""

from __future__ import annotations

import re

from skerry_api.pipeline import PipelineSettings
from skerry_runner.compose.rows import hooks_of
from skerry_runner.pipeline import ROWS
from skerry_testing.controlplane import ROOT
from skerry_testing.runnerworld import document

PAGE = (ROOT / "docs/reference/middlewares.md").read_text(encoding="utf-8")
CELLS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| middleware")
]


def test_rows_stand_in_order_with_one_s_own_in_their_place() -> None:
    names = [spec.name for spec in ROWS]
    names.insert(names.index("SafetyFinishReason"), "one's own")
    assert [cells[0] for cells in CELLS] == names


def test_hooks_are_those_of_the_code() -> None:
    told = {cells[0]: set(cells[2].split(", ")) for cells in CELLS}
    made = document(vision=True)
    for spec in ROWS:
        assert told[spec.name] == {hook.value for hook in hooks_of(spec.build(made))}, spec.name


def test_every_key_of_the_settings_is_named() -> None:
    keys = {field.alias for field in PipelineSettings.model_fields.values()}
    assert {key for cells in CELLS for key in re.findall(r"`([a-zA-Z]+)`$", cells[4])} == keys


def test_what_subagents_have_is_said() -> None:
    said = re.search(r"^Subagents have ([^;]*?),?\sunder the same", PAGE, re.MULTILINE)
    assert said is not None
    assert re.split(r",\s+", said[1]) == [spec.name for spec in ROWS if spec.subagents]
