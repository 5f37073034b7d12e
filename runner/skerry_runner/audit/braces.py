"""Brace expansion: `{a,b}` and `{1..3}`, before anything else is expanded."""

from __future__ import annotations

import re

from skerry_runner.audit.scan import TooComplexError
from skerry_runner.audit.syntax import Literal, Part, Word

__all__ = ["expand_braces"]

RESULTS_MAX = 64
BRACES_MAX = 40
_RANGE = re.compile(r"(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])(?:\.\.-?\d{1,6})?")
_MARK = 0xF0000
"""Private characters stand for the parts of a word that braces do not look into."""


def expand_braces(word: Word) -> list[Word]:
    """The words that a word stands for; itself if it has no braces. At most 64.

    Raises:
        TooComplexError: more braces than an honest word has.
    """
    if not any(isinstance(part, Literal) and not part.quoted and "{" in part.text for part in word):
        return [word]
    if (
        sum(part.text.count("{") for part in word if isinstance(part, Literal) and not part.quoted)
        > BRACES_MAX
    ):
        raise TooComplexError
    kept: list[Part] = []
    text = ""
    for part in word:
        if isinstance(part, Literal) and not part.quoted:
            text += part.text
        else:
            text += chr(_MARK + len(kept) % 0xFFFD)
            kept.append(part)
    return [_parts(found, kept) for found in _expand(text, RESULTS_MAX)]


def _parts(text: str, kept: list[Part]) -> Word:
    parts: list[Part] = []
    run = ""
    for char in text:
        if ord(char) >= _MARK:
            if run:
                parts.append(Literal(run, quoted=False))
            parts.append(kept[ord(char) - _MARK])
            run = ""
        else:
            run += char
    if run:
        parts.append(Literal(run, quoted=False))
    return tuple(parts)


def _expand(text: str, limit: int) -> list[str]:
    results = [""]
    at = 0
    while at < len(text):
        open_ = text.find("{", at)
        found = _alternatives(text, open_) if open_ >= 0 else None
        if found is None:
            stop = len(text) if open_ < 0 else open_ + 1
            results = [head + text[at:stop] for head in results]
            at = stop
            continue
        words, after = found
        inner = [one for word in words for one in (_expand(word, limit) if "{" in word else [word])][:limit]
        results = [head + text[at:open_] + one for head in results for one in inner][:limit]
        at = after
    return results


def _alternatives(text: str, open_: int) -> tuple[list[str], int] | None:
    level, start, words = 0, open_ + 1, []
    for at in range(open_, min(len(text), open_ + 2000)):
        char = text[at]
        if char == "{":
            level += 1
        elif char == "," and level == 1:
            words.append(text[start:at])
            start = at + 1
        elif char == "}":
            level -= 1
            if level == 0:
                last = text[start:at]
                if words:
                    return [*words, last], at + 1
                ranged = _RANGE.fullmatch(last)
                return (_ranged(ranged), at + 1) if ranged else None
    return None


def _ranged(match: re.Match[str]) -> list[str]:
    first, last = match.group(1), match.group(2)
    if first.isalpha() and last.isalpha():
        a, b = ord(first), ord(last)
        return [chr(code) for code in range(a, b + 1 if b >= a else b - 1, 1 if b >= a else -1)][:RESULTS_MAX]
    if first.isalpha() or last.isalpha():
        return [match.group()]
    a, b = int(first), int(last)
    step = 1 if b >= a else -1
    return [str(value) for value in range(a, a + step * min(abs(b - a) + 1, RESULTS_MAX), step)]
