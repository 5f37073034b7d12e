"""Requests and results of a search, as they go over the wire."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from skerry_api.base import KubeModel
from skerry_api.sandboxd_api import FileKind

__all__ = [
    "RESULTS_MAX", "FindRequest", "FindResult", "FoundPath", "GrepMatch", "GrepRequest", "GrepResult", "SearchRequest",
    "SearchResult",
]  # fmt: skip

RESULTS_MAX = 1000
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=1000, pattern=r"^[^\x00]*$")]


class SearchRequest(KubeModel):
    """Below `path`, not following links. Names that match one of `ignore` are left out with all below them,

    unless the glob names them itself.
    """

    path: Annotated[str, StringConstraints(min_length=1, max_length=4096, pattern=r"^[^\x00]*$")]
    ignore: tuple[Pattern, ...] = Field(default=(), max_length=256)
    limit: int = Field(ge=1, le=RESULTS_MAX)

    # A misspelt field in a request must not be dropped in silence.
    model_config = ConfigDict(extra="forbid")


class FindRequest(SearchRequest):
    """Paths that match `glob`: `*`, `?`, `[…]`, `{a,b}`, `**` over directories; one without `/` at any depth."""

    glob: Pattern
    directories: bool = False


class GrepRequest(SearchRequest):
    """Lines in which `pattern` (a Python regular expression, or plain text) is found; `path` may be a single file."""

    pattern: Pattern
    glob: Pattern | None = None
    literal: bool = False
    case_sensitive: bool = False


class SearchResult(KubeModel):
    """`truncated`: there is more than `limit`. `incomplete`: time ran out. `ignored` and `unreadable` count entries."""

    truncated: bool = False
    incomplete: bool = False
    ignored: int = 0
    unreadable: int = 0


class FoundPath(KubeModel):
    path: str
    kind: FileKind


class FindResult(SearchResult):
    """Sorted by path, segment by segment."""

    paths: tuple[FoundPath, ...] = ()


class GrepMatch(KubeModel):
    """`line` counts from 1; of a long line `text` is the part around the match."""

    path: str
    line: int
    text: str


class GrepResult(SearchResult):
    """Sorted by path and line. The counts say what was not looked into: too large, no text, lines too long."""

    matches: tuple[GrepMatch, ...] = ()
    files: int = 0
    skipped_large: int = 0
    skipped_binary: int = 0
    skipped_lines: int = 0
