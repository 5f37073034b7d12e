"""Patterns of scripts: Python's `re.search`, with an end. A pattern that backtracks for ever must not hold the loop."""

from __future__ import annotations

from functools import cache

import regex  # type: ignore[import-untyped]  # its stubs are a package of their own

__all__ = ["SECONDS", "check", "search"]

SECONDS = 5.0
"""Longest search, in seconds; deadline and signals wait for it."""


@cache
def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern)


def check(pattern: str) -> str:
    """The pattern itself. Raises ValueError when it is none."""
    try:
        _compiled(pattern)
    except regex.error as error:
        raise ValueError(f"not a regular expression: {error}") from error
    return pattern


def search(pattern: str, text: str, seconds: float = SECONDS) -> str | None:
    """What the pattern matches first, or None.

    Raises:
        TimeoutError: it was not found out within `seconds`.
    """
    found = _compiled(pattern).search(text, timeout=seconds)
    return None if found is None else str(found.group(0))
