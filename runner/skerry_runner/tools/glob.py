"""glob: find files of the sandbox by their names."""

from __future__ import annotations

from typing import Annotated

from langchain_core.tools import tool
from pydantic import Field

from skerry_api.filesearch.models import FindRequest
from skerry_api.sandboxd_api import FileKind
from skerry_runner.paths import WORKSPACE
from skerry_runner.tools.call import Runtime, checked_path, context_of, sandbox_call
from skerry_runner.tools.ls import IGNORED
from skerry_runner.tools.search import PATTERN_MAX, checked_glob, result_limit, with_notes
from skerry_runner.tools.text import printable

__all__ = ["glob"]

_MARKS = {FileKind.DIRECTORY: "/", FileKind.SYMLINK: "@", FileKind.OTHER: "?", FileKind.FILE: ""}


@tool("glob")
async def glob(  # noqa: PLR0917 - a tool's arguments go by name
    pattern: Annotated[
        str,
        Field(
            min_length=1,
            max_length=PATTERN_MAX,
            description="Such as *.py (at any depth), src/**/*.{ts,tsx}, data/2024-??.csv.",
        ),
    ],
    runtime: Runtime,
    path: Annotated[
        str, Field(min_length=1, description="Directory below /mnt/user-data or /mnt/skills.")
    ] = WORKSPACE,
    include_dirs: Annotated[bool, Field(description="Find directories too.")] = False,
    max_results: Annotated[int | None, Field(ge=1, description="200 if absent, at most 1000.")] = None,
    description: Annotated[str, Field(description="What you look for, in a few words.")] = "",  # noqa: ARG001 - for whoever reads the journal
) -> str:
    """Find files by name, sorted by path. Build results, caches and version control are left out unless named."""
    where = checked_path(path)
    limits = context_of(runtime).tools
    request = FindRequest(
        path=where,
        glob=checked_glob(pattern, where),
        directories=include_dirs,
        ignore=IGNORED,
        limit=result_limit(max_results, limits.glob_results, limits.glob_results_max),
    )
    async with sandbox_call(runtime) as call:
        found = await call.sandbox.find(request)
    lines = [printable(entry.path) + _MARKS[entry.kind] for entry in found.paths]
    return with_notes(lines, found, [], chars=limits.search_chars)
