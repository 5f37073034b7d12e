"""Long texts into short ones: what a message keeps of a result. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["cut_in_place", "head_of", "plain_text", "tail_of"]


def plain_text(content: str | Sequence[str | Mapping[str, Any]]) -> str | None:
    """The content as one text; None if there is anything but text in it."""
    if isinstance(content, str):
        return content
    parts = []
    for block in content:
        if isinstance(block, str):
            parts.append(block)
        elif block.get("type") == "text" and isinstance(block.get("text"), str):
            parts.append(block["text"])
        else:
            return None
    return "\n".join(parts)


def head_of(text: str, limit: int) -> str:
    """At most `limit` characters of the beginning, whole lines if there are any."""
    if len(text) <= limit:
        return text
    end = text.rfind("\n", 0, limit + 1)
    return text[: end if end > 0 else limit]


def tail_of(text: str, limit: int) -> str:
    """At most `limit` characters of the end, whole lines if there are any."""
    if len(text) <= limit:
        return text
    if limit <= 0:
        return ""
    start = text.find("\n", len(text) - limit - 1)
    return text[start + 1 if 0 <= start < len(text) - 1 else len(text) - limit :]


def cut_in_place(text: str, *, most: int, head: int, tail: int, why: str) -> str:
    """At most `most` characters, marker included: `head` of the beginning and `tail` of the end.

    `why` tells the reader why the rest is not to be had. A shorter text is the same object.
    """
    if len(text) <= most:
        return text
    # The count of what is left out has no more digits than the text's length: the marker never outgrows this.
    longest = _marker(len(text), why)
    room = max(0, most - len(longest))
    tail = min(tail, room // 2 if head + tail > room else tail)
    first, last = head_of(text, min(head, room - tail)), tail_of(text, tail)
    cut = first + _marker(len(text) - len(first) - len(last), why) + last
    return cut if len(cut) <= most else text[:most]


def _marker(dropped: int, why: str) -> str:
    return f"\n[… {dropped} characters left out: {why} …]\n"
