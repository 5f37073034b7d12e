"""What variables do by being set: load libraries, change where programs are found, run a text later."""

from __future__ import annotations

import re

from skerry_runner.audit.finder import Finder
from skerry_runner.audit.values import Text

__all__ = ["check_assignment"]

_PRELOAD = re.compile(
    r"LD_PRELOAD|LD_LIBRARY_PATH|LD_AUDIT|LD_DEBUG_OUTPUT|DYLD_INSERT_LIBRARIES|DYLD_LIBRARY_PATH"
)
_CODE = frozenset(
    {
        "PROMPT_COMMAND",
        "PS0",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "GIT_PAGER",
        "PAGER",
        "EDITOR",
        "VISUAL",
        "GIT_EDITOR",
    }
)
_SOURCED = frozenset({"BASH_ENV", "ENV"})


def check_assignment(judge: Finder, name: str, value: Text) -> None:
    """Judge `name=value`, wherever it stands."""
    if _PRELOAD.fullmatch(name):
        judge.find("preload")
    elif name == "PATH":
        judge.find("change-path")
    elif name in _CODE and value.text:
        judge.code(value.text)
    elif name in _SOURCED and value.text and "/" in value.text:
        judge.find("run-variable")
