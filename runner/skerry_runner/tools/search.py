"""What glob and grep share: the place to search, the limit, and what a result says of itself. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from skerry_api.filesearch.globs import BadGlob, glob_regex
from skerry_api.filesearch.models import SearchResult
from skerry_runner.tools.errors import ToolFailure
from skerry_runner.tools.text import cut_head

__all__ = ["PATTERN_MAX", "checked_glob", "result_limit", "with_notes"]

PATTERN_MAX = 1000


def checked_glob(glob: str, below: str) -> str:
    """The glob relative to the directory that is searched; one that begins with that directory is meant so.

    Raises:
        ToolFailure: it can't be used.
    """
    if "\0" in glob:
        raise ToolFailure("the pattern holds a NUL character")
    relative = glob.removeprefix(below.rstrip("/") + "/")
    if relative != glob and "/" not in relative:
        relative = f"./{relative}"
    if relative.startswith("/mnt/"):
        raise ToolFailure(f"the pattern is not below {below}: give its directory as path")
    try:
        glob_regex(relative)
    except BadGlob as error:
        raise ToolFailure(f"the pattern can't be used: {error}") from error
    return relative


def result_limit(asked: int | None, usual: int, most: int) -> int:
    """How many results are given."""
    return min(asked or usual, most)


def with_notes(lines: Sequence[str], found: SearchResult, notes: Sequence[str], *, chars: int) -> str:
    """The lines, or that there are none, and what the reader must know about what is not among them."""
    more = [
        *(["there are more: narrow the search"] if found.truncated else []),
        *(["time ran out, there may be more: narrow the search"] if found.incomplete else []),
        *notes,
        *(
            [f"{found.ignored} names such as caches, packages, build results and logs left out"]
            if found.ignored
            else []
        ),
        *([f"{found.unreadable} could not be read"] if found.unreadable else []),
    ]
    text = cut_head("\n".join(lines) or "(nothing found)", chars, "narrow the search")
    return f"{text}\n({'; '.join(more)})" if more else text
