"""Names of the tools that a profile can enable."""

from __future__ import annotations

from enum import StrEnum

__all__ = ["ToolName"]


class ToolName(StrEnum):
    """Tools that a profile can enable."""

    BASH = "bash"
    LS = "ls"
    GLOB = "glob"
    GREP = "grep"
    READ_FILE = "read_file"
    WRITE_FILE = "write_file"
    STR_REPLACE = "str_replace"
    VIEW_IMAGE = "view_image"
    """Given only to a model that sees images."""
    PRESENT_FILES = "present_files"
    ASK_CLARIFICATION = "ask_clarification"
