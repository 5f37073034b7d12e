"""Searching a sandbox's files by name and by content: one meaning for every provider.

The work is done by a process of its own (`worker.py`): a regular expression may take for ever and can only be
killed, and neither the runner nor sandboxd may stand still meanwhile.
"""

from __future__ import annotations

from skerry_api.filesearch.models import (
    FindRequest,
    FindResult,
    FoundPath,
    GrepMatch,
    GrepRequest,
    GrepResult,
    SearchRequest,
    SearchResult,
)

__all__ = [
    "FindRequest", "FindResult", "FoundPath", "GrepMatch", "GrepRequest", "GrepResult", "SearchRequest", "SearchResult",
]  # fmt: skip
