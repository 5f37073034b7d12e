"""grep: find lines in files of the sandbox."""

from __future__ import annotations

from typing import Annotated

from langchain_core.tools import tool
from pydantic import Field

from skerry_api.filesearch.lines import line_regex
from skerry_api.filesearch.models import GrepRequest, GrepResult
from skerry_runner.paths import WORKSPACE
from skerry_runner.tools.call import Runtime, checked_path, context_of, sandbox_call
from skerry_runner.tools.errors import ToolFailure
from skerry_runner.tools.ls import IGNORED
from skerry_runner.tools.search import PATTERN_MAX, checked_glob, result_limit, with_notes
from skerry_runner.tools.text import printable

__all__ = ["grep"]


def _check(pattern: str, *, literal: bool) -> None:
    if "\0" in pattern:
        raise ToolFailure("the pattern holds a NUL character")
    try:
        line_regex(pattern, literal=literal, case_sensitive=True)
    except ValueError as error:
        raise ToolFailure(f"the pattern is {error}; set literal to look for it as it is") from error


def _notes(found: GrepResult) -> list[str]:
    counted = (
        (found.skipped_large, "files over 1 MB not searched: name one as path"),
        (found.skipped_binary, "binary files not searched"),
        (found.skipped_lines, "lines over 2000 characters not searched"),
    )
    return [f"{count} {what}" for count, what in counted if count]


@tool("grep")
async def grep(  # noqa: PLR0917 - a tool's arguments go by name
    pattern: Annotated[
        str,
        Field(
            min_length=1, max_length=PATTERN_MAX, description="Python regular expression, one line at a time."
        ),
    ],
    runtime: Runtime,
    path: Annotated[
        str, Field(min_length=1, description="Directory or file below /mnt/user-data or /mnt/skills.")
    ] = WORKSPACE,
    glob: Annotated[
        str | None,
        Field(min_length=1, max_length=PATTERN_MAX, description="Only files that match, such as *.py."),
    ] = None,
    literal: Annotated[bool, Field(description="The pattern is plain text.")] = False,
    case_sensitive: Annotated[bool, Field(description="Tell capitals from small letters.")] = False,
    max_results: Annotated[int | None, Field(ge=1, description="100 if absent, at most 500.")] = None,
    description: Annotated[str, Field(description="What you look for, in a few words.")] = "",  # noqa: ARG001 - for whoever reads the journal
) -> str:
    """Find lines in text files, as path:line: text. Build results, caches, logs and version control are left out unless named."""
    where = checked_path(path)
    _check(pattern, literal=literal)
    limits = context_of(runtime).tools
    request = GrepRequest(
        path=where,
        pattern=pattern,
        glob=None if glob is None else checked_glob(glob, where),
        literal=literal,
        case_sensitive=case_sensitive,
        ignore=IGNORED,
        limit=result_limit(max_results, limits.grep_results, limits.grep_results_max),
    )
    async with sandbox_call(runtime) as call:
        found = await call.sandbox.grep(request)
    lines = [f"{printable(match.path)}:{match.line}: {_line(match.text)}" for match in found.matches]
    return with_notes(lines, found, _notes(found), chars=limits.search_chars)


def _line(text: str) -> str:
    # A tab is what it is; what could forge a line or hide one is shown as what it is.
    return "\t".join(printable(part) for part in text.split("\t"))
