"""What a server's tool is called here: its own name, unless a model's provider or another tool forbids it. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence

from skerry_api.agentprofile import ToolName

__all__ = ["NAME_MAX", "RESERVED", "assign", "spelled"]

NAME_MAX = 64
"""What all providers take: letters, digits, `_` and `-`, at most so many."""
RESERVED = frozenset(ToolName) | {
    "ask_clarification", "glob", "grep", "present_files", "str_replace", "task", "tool_search", "view_image",
    "write_todos",
}  # fmt: skip
"""Skerry's own tools, enabled or not: a rule about `bash` must never meet a stranger of that name."""


def spelled(name: str) -> str:
    """The name as providers take it; one that has to be changed gets a mark of what it was, so that no two meet."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    if plain == name and 0 < len(name) <= NAME_MAX:
        return name
    mark = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return f"{plain[: NAME_MAX - 7]}_{mark}"


def assign(
    tools: Sequence[tuple[str, str]],
    taken: Mapping[tuple[str, str], str],
    reserved: Collection[str] = RESERVED,
) -> dict[tuple[str, str], str]:
    """Names by (server, own name), which are unique. Names once given (`taken`) stay.

    In the order given the first keeps its own name; whoever comes later to a name that is taken gets `SERVER_`
    before it.
    """
    given = dict(taken)
    used = {*reserved, *given.values()}
    for key in tools:
        if key in given:
            continue
        server, own = key
        name = spelled(own)
        if name in used:
            name = spelled(f"{server}_{own}")
        attempt = 2
        while name in used:
            name = spelled(f"{server}_{own}_{attempt}")
            attempt += 1
        given[key] = name
        used.add(name)
    return given
