"""Matching lines of a text. Standard library only: the worker imports this without our packages. Pure."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

__all__ = ["LINE_MAX", "is_text", "line_regex", "matching"]

LINE_MAX = 2000
"""Longest line that is looked into, in characters: longer ones were made by machines."""
_SHOWN = 200
_BEFORE = 60
_PROBED = 8192


def line_regex(pattern: str, *, literal: bool, case_sensitive: bool) -> re.Pattern[str]:
    """Raises ValueError (re.error is one) for what is no regular expression."""
    try:
        return re.compile(re.escape(pattern) if literal else pattern, 0 if case_sensitive else re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"no regular expression: {error}") from error


def is_text(data: bytes) -> bool:
    return b"\0" not in data[:_PROBED]


def matching(data: bytes, regex: re.Pattern[str]) -> Iterator[tuple[int, str] | None]:
    """(number, text) of each line that matches; None for one that is too long to be looked into."""
    for number, piece in enumerate(io.BytesIO(data), 1):
        raw = piece.removesuffix(b"\n")
        if len(raw) > 4 * LINE_MAX:
            yield None
            continue
        line = raw.decode("utf-8", "backslashreplace").removesuffix("\r")
        if len(line) > LINE_MAX:
            yield None
        elif (found := regex.search(line)) is not None:
            yield number, _around(line, found.start(), found.end())


def _around(line: str, start: int, end: int) -> str:
    if len(line) <= _SHOWN:
        return line
    begin = 0 if end <= _SHOWN else max(0, min(start - _BEFORE, len(line) - _SHOWN))
    shown = line[begin : begin + _SHOWN]
    return ("…" if begin else "") + shown + ("…" if begin + _SHOWN < len(line) else "")
