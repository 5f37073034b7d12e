"""Shapes of commands that are dangerous whatever is in them: loops without end, functions that multiply. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skerry_runner.audit.syntax import Compound, Script
from skerry_runner.audit.values import Text

__all__ = ["is_forever", "looks_like_rm", "multiplies"]

_FOREVER = re.compile(r"true|:|1|yes")
_NEVER = re.compile(r"false")


def looks_like_rm(args: Sequence[Text]) -> bool:
    flags = "".join(arg.text for arg in args if re.fullmatch(r"-[a-zA-Z]+", arg.text))
    return "r" in flags.lower() and "f" in flags


def _names_in(script: Script) -> list[str]:
    names: list[str] = []
    for item in script:
        for command in item.pipeline.commands:
            if isinstance(command, Compound):
                names += _names_in(command.body)
            elif command.words and len(command.words[0]) == 1:
                names.append(getattr(command.words[0][0], "text", ""))
    return names


def multiplies(name: str, body: Script) -> bool:
    """Whether a function calls itself in a pipe or in the background."""
    for item in body:
        commands = item.pipeline.commands
        inner = [_names_in((item,))]
        if (item.background or len(commands) > 1) and name in inner[0]:
            return True
        if any(
            isinstance(c, Compound) and c.kind != "function" and multiplies(name, c.body) for c in commands
        ):
            return True
    return False


def is_forever(loop: Compound) -> bool:
    pattern = _NEVER if loop.name == "until" else _FOREVER
    return len(loop.head) == 1 and any(pattern.fullmatch(name) for name in _names_in(loop.head))
