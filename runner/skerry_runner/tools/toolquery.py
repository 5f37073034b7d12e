"""Find tools by a query of the model. Pure.

`select:a,b` names them; `+word rest` wants `word` in the name and ranks by the rest; anything else is a regular
expression over names and descriptions, read literally where it is none, and as words where it finds nothing.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import regex  # type: ignore[import-untyped]  # its stubs are a package of their own

from skerry_runner.deferred import DeferredTool

__all__ = ["Found", "search"]

SELECT = "select:"
QUERY_MAX = 500
"""Characters of a query that count; names that are selected are not cut."""
DESCRIPTION_SEARCHED = 4000
PATTERN_SECONDS = 1.0
"""For all of a search: the model's pattern may be one that never ends, and is then read as words."""


@dataclass(frozen=True)
class Found:
    """Best first. `missing`: names that were selected and are nowhere; `more`: matches beyond the limit."""

    tools: tuple[DeferredTool, ...]
    missing: tuple[str, ...] = ()
    more: int = 0


def search(query: str, tools: Sequence[DeferredTool], limit: int) -> Found:
    """The tools a query asks for; `limit` holds for all but selected ones."""
    query = query.strip()
    if query.startswith(SELECT):
        return _selected(query[len(SELECT) :], tools)
    query = query[:QUERY_MAX]
    if query.startswith("+"):
        required, _, rest = query[1:].strip().partition(" ")
        within = [tool for tool in tools if required.casefold() in tool.name.casefold()]
        ranked = sorted(within, key=lambda tool: -_score(tool, rest.split())) if required else []
    else:
        ranked = _by_pattern(query, tools) or _by_words(query, tools) if query else []
    return Found(tuple(ranked[:limit]), more=max(0, len(ranked) - limit))


def _selected(names: str, tools: Sequence[DeferredTool]) -> Found:
    wanted = dict.fromkeys(name for part in names.split(",") if (name := part.strip()))
    by_name = {tool.name: tool for tool in tools}
    return Found(
        tuple(by_name[name] for name in wanted if name in by_name),
        tuple(name for name in wanted if name not in by_name),
    )


def _described(tool: DeferredTool) -> str:
    return tool.tool.description[:DESCRIPTION_SEARCHED]


def _by_pattern(query: str, tools: Sequence[DeferredTool]) -> list[DeferredTool]:
    """Matches in the name come before those in the description."""
    try:
        pattern = regex.compile(query, regex.IGNORECASE)
    except regex.error:
        pattern = regex.compile(regex.escape(query), regex.IGNORECASE)
    end = time.monotonic() + PATTERN_SECONDS

    def matches(text: str) -> bool:
        # `concurrent` lets the event loop's thread run meanwhile.
        return pattern.search(text, timeout=max(0.001, end - time.monotonic()), concurrent=True) is not None

    try:
        named = [tool for tool in tools if matches(tool.name)]
        described = [
            tool for tool in tools if tool not in named and matches(f"{tool.server}\n{_described(tool)}")
        ]
    except TimeoutError:
        return []
    return named + described


def _by_words(query: str, tools: Sequence[DeferredTool]) -> list[DeferredTool]:
    words = query.split()
    scored = [(score, tool) for tool in tools if (score := _score(tool, words))]
    return [tool for _, tool in sorted(scored, key=lambda pair: -pair[0])]


def _score(tool: DeferredTool, words: Sequence[str]) -> int:
    """A word in the name counts for more than one in the description."""
    name, described = tool.name.casefold(), f"{tool.server} {_described(tool)}".casefold()
    return sum(3 * (word in name) + (word in described) for word in map(str.casefold, words))
