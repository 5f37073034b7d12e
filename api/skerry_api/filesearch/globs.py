"""Globs as regular expressions. Standard library only: the worker imports this without our packages. Pure."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

__all__ = ["BadGlob", "glob_regex", "still_ignored"]

_EXPANSIONS = 256


class BadGlob(ValueError):
    """The glob can't be used; the message says why."""


def glob_regex(glob: str) -> re.Pattern[str]:
    """Matches relative paths as a whole.

    Raises:
        BadGlob: it leads upwards, or stands for too many patterns.
    """
    return re.compile("|".join(_one(pattern) for pattern in _expanded(glob)), re.DOTALL)


def still_ignored(ignore: tuple[str, ...], glob: str | None) -> tuple[str, ...]:
    """What is left out: nothing that the glob names itself."""
    named = glob.split("/") if glob else []
    return tuple(pattern for pattern in ignore if not any(fnmatchcase(name, pattern) for name in named))


def _expanded(glob: str) -> list[str]:
    """Alternatives in braces written out. A brace without its partner or a comma is an ordinary character."""
    done, todo = [], [glob]
    while todo:
        pattern = todo.pop()
        found = _innermost(pattern)
        if found is None:
            done.append(pattern)
        else:
            start, end, parts = found
            todo += [pattern[:start] + part + pattern[end + 1 :] for part in parts]
        if len(done) + len(todo) > _EXPANSIONS:
            raise BadGlob(f"it stands for more than {_EXPANSIONS} patterns")
    return sorted(set(done))


def _innermost(pattern: str) -> tuple[int, int, list[str]] | None:
    for found in re.finditer(r"\{([^{}]*,[^{}]*)\}", pattern):
        return found.start(), found.end() - 1, found[1].split(",")
    return None


def _one(glob: str) -> str:
    anchored = "/" in glob.rstrip("/")
    segments = [segment for segment in glob.split("/") if segment not in {"", "."}]
    if ".." in segments:
        raise BadGlob("`..` leads out of the directory that is searched")
    if not segments:
        return "(?!)"
    regex = "" if anchored else "(?:[^/]+/)*"
    for index, segment in enumerate(segments):
        last = index == len(segments) - 1
        if segment == "**":
            if index and segments[index - 1] == "**":
                continue
            regex += ".+" if last else "(?:[^/]+/)*"
        else:
            regex += _segment(segment) + ("" if last else "/")
    return rf"(?:{regex})\Z"


def _segment(segment: str) -> str:
    regex, at = "", 0
    while at < len(segment):
        char = segment[at]
        at += 1
        if char == "*":
            while segment[at : at + 1] == "*":
                at += 1
            regex += "[^/]*"
        elif char == "?":
            regex += "[^/]"
        elif (
            char == "["
            and (end := segment.find("]", at + 2 if segment[at : at + 1] in {"!", "^"} else at + 1)) > 0
        ):
            regex += _class(segment[at:end])
            at = end + 1
        else:
            regex += re.escape(char)
    return regex


def _class(inside: str) -> str:
    negated = inside[:1] in {"!", "^"}
    body = re.sub(r"([\\\[\]^&~|])", r"\\\1", inside[1:] if negated else inside)
    try:
        re.compile(f"[{body}]")
    except re.error as error:
        raise BadGlob(f"[{inside}]: {error}") from error
    return f"(?!/)[{'^' if negated else ''}{body}]"
