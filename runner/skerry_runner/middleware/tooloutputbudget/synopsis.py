"""What a long text is, in one line: JSON with its keys, a table with its header, or plain lines. Pure."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

__all__ = ["Synopsis", "synopsis_of"]

_PARSED_MOST = 5_000_000
"""Longest text that is parsed to be told of, in characters."""
_NAMES = 12
_NAME_CHARS = 60
_PROBED_LINES = 20
_XML = re.compile(
    r"\s*(?:<\?xml[^>]{0,500}\?>\s*)?(?:<!--.{0,2000}?-->\s*)*<([A-Za-z_][\w.:-]{0,100})[\s/>]", re.DOTALL
)
_HTML = re.compile(r"\s*<(?:!doctype html|html)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Synopsis:
    """`words` for the message, `suffix` for the file's name."""

    words: str
    suffix: str


def synopsis_of(text: str, *, default_suffix: str = "txt") -> Synopsis:
    """CPU work of up to some tens of milliseconds: call it off the event loop."""
    lines = text.count("\n") + (not text.endswith("\n"))
    size = f"{len(text)} characters, {lines} lines"
    for look in (_json, _json_lines, _markup, _table):
        if (found := look(text)) is not None:
            return Synopsis(f"{found.words}; {size}", found.suffix)
    return Synopsis(size, default_suffix)


def _listed(names: Sequence[Any]) -> str:
    shown = [_short(str(name)) for name in names[:_NAMES]]
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(shown) + more


def _short(text: str) -> str:
    line = "".join(char if char.isprintable() else "·" for char in text)
    return line if len(line) <= _NAME_CHARS else line[: _NAME_CHARS - 1] + "…"


def _parsed(text: str) -> Any:
    """None for what is no JSON, and for null."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _described(value: Any) -> str | None:
    if isinstance(value, dict):
        return f"JSON object with keys {_listed(list(value))}" if value else "JSON object"
    if isinstance(value, list):
        keys = list(value[0]) if value and isinstance(value[0], dict) else []
        return f"JSON array of {len(value)} items" + (
            f", the first with keys {_listed(keys)}" if keys else ""
        )
    return None


def _json(text: str) -> Synopsis | None:
    if len(text) > _PARSED_MOST or text.lstrip()[:1] not in {"{", "["}:
        return None
    words = _described(_parsed(text))
    return Synopsis(words, "json") if words else None


def _json_lines(text: str) -> Synopsis | None:
    if text.lstrip()[:1] != "{":
        return None
    probed = [line for line in islice(text.splitlines(), _PROBED_LINES) if line.strip()][:-1]
    values = [_parsed(line) for line in probed]
    if len(values) < 2 or not all(isinstance(value, dict) for value in values):
        return None
    return Synopsis(f"JSON lines, the first with keys {_listed(list(values[0]))}", "jsonl")


def _markup(text: str) -> Synopsis | None:
    if _HTML.match(text):
        return Synopsis("HTML page", "html")
    found = _XML.match(text)
    return Synopsis(f"XML with root {_short(found[1])}", "xml") if found else None


def _table(text: str) -> Synopsis | None:
    """The same number of columns, two at least, in all of the first rows."""
    probed = text[: 64 * 1024].split("\n")[:_PROBED_LINES]
    whole = probed[:-1] if len(probed) > 1 else probed
    for delimiter, name, suffix in ((",", "CSV", "csv"), ("\t", "TSV", "tsv")):
        try:
            rows = [row for row in csv.reader(whole, delimiter=delimiter, strict=True) if row]
        except csv.Error:
            continue
        widths = {len(row) for row in rows}
        if (
            len(rows) >= 3
            and len(widths) == 1
            and len(rows[0]) >= 2
            and all(cell.strip() for cell in rows[0])
        ):
            return Synopsis(f"{name} with {len(rows[0])} columns: {_listed(rows[0])}", suffix)
    return None
