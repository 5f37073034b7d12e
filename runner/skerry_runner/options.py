"""Options of a question as models write them: list, JSON text, lines, tags, objects. Pure; whatever comes, a tuple goes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from skerry_api.report import OPTION_MAX, OPTIONS_MAX

__all__ = ["options_of"]

_TEXT_KEYS = ("label", "text", "title", "option", "name", "value")
_LIST_KEYS = ("options", "choices", "items")
_TAG = re.compile(r"<(option|choice|item|li)\b[^>]*>(.*?)</\1\s*>", re.IGNORECASE | re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•]|\(?[0-9]{1,2}[.)]|\(?[A-Za-z][.)])\s+")
_DEEPEST = 4
"""Levels of nesting that are looked into."""


def options_of(raw: Any) -> tuple[str, ...]:
    """Trimmed, each once, in their order: at most OPTIONS_MAX of at most OPTION_MAX characters."""
    found = (_tidy(text) for text in _texts(raw, _DEEPEST))
    return tuple(dict.fromkeys(text for text in found if text))[:OPTIONS_MAX]


def _tidy(text: str) -> str:
    line = " ".join(text.encode("utf-8", "replace").decode().split())
    return line if len(line) <= OPTION_MAX else line[: OPTION_MAX - 1] + "…"


def _texts(raw: Any, depth: int) -> Iterator[str]:
    if raw is None or depth == 0:
        return
    if isinstance(raw, str):
        yield from _in_text(raw, depth)
    elif isinstance(raw, Mapping):
        yield from _in_mapping(raw, depth)
    elif isinstance(raw, list | tuple):
        for each in raw:
            # An entry is a text as it stands: it may well hold brackets or lines of its own.
            yield from (each,) if isinstance(each, str) else _texts(each, depth - 1)
    elif isinstance(raw, bool):
        yield "yes" if raw else "no"
    else:
        yield str(raw)


def _in_text(text: str, depth: int) -> Iterator[str]:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        parsed = None
    if isinstance(parsed, list | dict):
        yield from _texts(parsed, depth - 1)
    elif tagged := _TAG.findall(text):
        yield from (inner for _, inner in tagged)
    else:
        yield from (_BULLET.sub("", line) for line in text.splitlines())


def _in_mapping(raw: Mapping[Any, Any], depth: int) -> Iterator[str]:
    for key in _LIST_KEYS:
        if isinstance(raw.get(key), list | tuple | Mapping):
            yield from _texts(raw[key], depth - 1)
            return
    for key in _TEXT_KEYS:
        if isinstance(raw.get(key), str) and raw[key].strip():
            yield raw[key]
            return
    for key, value in raw.items():
        plain = isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip()
        yield f"{key}: {value}" if plain else str(key)
