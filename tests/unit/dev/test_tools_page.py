"""docs/reference/tools.md: every tool has its row, every argument is named, and `description` is told as it is."""

from __future__ import annotations

import re

import pytest
from langchain_core.tools import BaseTool

from skerry_api.rows.deferredtoolfilter import DeferredToolFilterSettings
from skerry_api.rows.tooloutputbudget import ToolOutputBudgetSettings
from skerry_runner.context import ToolLimits
from skerry_runner.tools.catalogue import TOOLS
from skerry_runner.tools.task import task_tool
from skerry_runner.tools.tool_search import tool_search_tool
from skerry_runner.tools.write_todos import write_todos
from skerry_testing.controlplane import ROOT

PAGE = (ROOT / "docs/reference/tools.md").read_text(encoding="utf-8")
ROWS = {found[1]: found[0] for found in re.finditer(r"^\| `([a-z_]+)`.*$", PAGE, re.MULTILINE)}
ALL: list[BaseTool] = [
    *TOOLS.values(),
    write_todos,
    task_tool([], 1, 1),
    tool_search_tool(DeferredToolFilterSettings(), []),
]


def arguments(tool: BaseTool) -> set[str]:
    return set(tool.args)


def test_every_tool_has_a_row() -> None:
    assert set(ROWS) == {tool.name for tool in ALL}


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_every_argument_is_named(tool: BaseTool) -> None:
    told = set(re.findall(r"`(\w+)`", ROWS[tool.name].split(" | ", 1)[1]))
    assert arguments(tool) - {"description"} <= told


def test_which_tools_take_no_description() -> None:
    (sentence,) = re.findall(r"All of them but (.*?)\s+take an optional\s+`description`", PAGE, re.DOTALL)
    without = {tool.name for tool in ALL if "description" not in arguments(tool)}
    assert set(re.findall(r"`(\w+)`", sentence)) == without


def test_the_limits_are_those_of_the_code() -> None:
    limits, budget = ToolLimits(), ToolOutputBudgetSettings()
    assert f"more than {budget.externalize_min_chars:,} characters goes to a file" in PAGE
    assert f"at {limits.bash_chars:,} characters where `toolOutputBudget` is off" in ROWS["bash"]
    assert f"at most {limits.read_chars:,} characters" in ROWS["read_file"]
