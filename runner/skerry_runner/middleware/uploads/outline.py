"""What a file is about, in a few lines: its headings, its header, or how it begins. Pure."""

from __future__ import annotations

import codecs
import mimetypes
import re
from itertools import islice

from skerry_runner.tools.text import is_binary

__all__ = ["file_type", "outline"]

_LOOKED_AT = 1024 * 1024
"""How far into a file an outline is looked for, in bytes."""
_BEGINNING = 5
"""Lines shown of a text that has no headings."""
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_MARKDOWN = "text/markdown"
_TABLES = frozenset({"text/csv", "text/tab-separated-values"})
_MORE = "…"


def file_type(name: str, data: bytes) -> str:
    """Its media type: by name where that is known, else text or not."""
    known, encoding = mimetypes.guess_type(name, strict=False)
    if name.lower().endswith((".md", ".markdown")):
        return _MARKDOWN
    if known is not None and encoding is None:
        return known
    return "application/octet-stream" if encoding or _text(data) is None else "text/plain"


def _text(data: bytes) -> str | None:
    """Its beginning as text; None if it is none."""
    head = data[:_LOOKED_AT]
    if is_binary(head):
        return None
    try:
        # A character that our cut splits is not the file's fault.
        return codecs.getincrementaldecoder("utf-8-sig")().decode(head, final=len(data) <= _LOOKED_AT)
    except UnicodeDecodeError:
        return None


def outline(data: bytes, kind: str, *, lines: int, chars: int) -> list[str]:
    """At most `lines` lines of at most `chars` characters; none for what is no text."""
    text = _text(data)
    if text is None or lines <= 0 or kind.startswith("image/"):
        return []
    filled = [line for line in text.splitlines() if line.strip()]
    if kind == _MARKDOWN and (headings := list(islice(_headings(filled), lines + 1))):
        chosen = headings
    elif kind in _TABLES and filled:
        chosen = [filled[0], f"({len(filled) - 1}{'+' if len(data) > _LOOKED_AT else ''} rows)"][:lines]
    else:
        chosen = filled[: min(_BEGINNING, lines)]
    shown = [
        line.strip() if len(line.strip()) <= chars else line.strip()[: chars - 1] + _MORE for line in chosen
    ]
    return [*shown[: lines - 1], _MORE] if len(shown) > lines else shown


def _headings(lines: list[str]) -> list[str]:
    found, fence = [], None
    for line in lines:
        if mark := _FENCE.match(line):
            fence = None if fence == mark[1] else fence or mark[1]
        elif fence is None and _HEADING.match(line):
            found.append(line)
    return found
