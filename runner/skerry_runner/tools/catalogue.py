"""Which tool a name stands for."""

from __future__ import annotations

from collections.abc import Iterable

from langchain_core.tools import BaseTool

from skerry_api.agentprofile import ToolName
from skerry_runner.tools.ask_clarification import ask_clarification
from skerry_runner.tools.bash import bash
from skerry_runner.tools.glob import glob
from skerry_runner.tools.grep import grep
from skerry_runner.tools.ls import ls
from skerry_runner.tools.present_files import present_files
from skerry_runner.tools.read_file import read_file
from skerry_runner.tools.str_replace import str_replace
from skerry_runner.tools.view_image import view_image
from skerry_runner.tools.write_file import write_file

__all__ = ["TOOLS", "tools_for"]

TOOLS: dict[ToolName, BaseTool] = {
    ToolName.BASH: bash,
    ToolName.LS: ls,
    ToolName.GLOB: glob,
    ToolName.GREP: grep,
    ToolName.READ_FILE: read_file,
    ToolName.WRITE_FILE: write_file,
    ToolName.STR_REPLACE: str_replace,
    ToolName.VIEW_IMAGE: view_image,
    ToolName.PRESENT_FILES: present_files,
    ToolName.ASK_CLARIFICATION: ask_clarification,
}


def tools_for(names: Iterable[ToolName]) -> list[BaseTool]:
    """The tools a document names, each once, in the catalogue's order."""
    wanted = frozenset(names)
    return [tool for name, tool in TOOLS.items() if name in wanted]
