"""ls: what is in a directory of the sandbox, two levels deep."""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Annotated

from langchain_core.tools import tool
from pydantic import Field

from skerry_runner.paths import WORKSPACE
from skerry_runner.sandbox.types import EntryKind, FileInfo
from skerry_runner.tools.call import Runtime, checked_path, context_of, sandbox_call
from skerry_runner.tools.text import cut_head, decode, printable

__all__ = ["IGNORED", "ls", "render_listing"]

DEPTH = 2
IGNORED = (
    # version control
    ".git", ".svn", ".hg", ".bzr",
    # what package managers bring
    "node_modules", "bower_components", ".venv", "venv", ".virtualenv", "site-packages", ".pnpm-store", ".yarn",
    ".cargo", ".rustup", ".gradle", ".m2", ".bundle", "vendor",
    # what tools build and cache
    "__pycache__", "*.py[cod]", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".tox", ".nox", ".hypothesis",
    ".eggs", "*.egg-info", ".ipynb_checkpoints", "htmlcov", ".coverage", ".nyc_output", "build", "dist", "target",
    "out", ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache", ".cache", ".terraform", "*.o", "*.class",
    # editors, systems, leftovers
    ".idea", ".vscode", ".DS_Store", "Thumbs.db", "desktop.ini", "*.swp", "*.swo", "*~", "*.log", "*.tmp",
)  # fmt: skip
_MARKS = {EntryKind.DIRECTORY: "/", EntryKind.SYMLINK: "@", EntryKind.OTHER: "?", EntryKind.FILE: ""}


def _shown(path: str) -> str:
    # A name may hold any byte but / and NUL: one with a newline must not look like two.
    return printable(decode(path.encode("utf-8", "surrogateescape")))


def render_listing(root: str, entries: Iterable[FileInfo], *, truncated: bool) -> str:
    """One line each, parents before children: path below `root`, `/` after directories, size of files."""
    lines = []
    for entry in sorted(entries, key=lambda entry: entry.path.split("/")):
        below = entry.path[len(root.rstrip("/")) + 1 :]
        if any(fnmatchcase(part, pattern) for part in below.split("/") for pattern in IGNORED):
            continue
        size = f" ({entry.size} bytes)" if entry.kind is EntryKind.FILE else ""
        lines.append(f"{_shown(below)}{_MARKS[entry.kind]}{size}")
    if truncated:
        lines.append("… there is more than can be listed")
    return "\n".join(lines) or "(empty)"


@tool("ls")
async def ls(
    runtime: Runtime,
    path: Annotated[
        str, Field(min_length=1, description="Directory below /mnt/user-data or /mnt/skills.")
    ] = WORKSPACE,
    description: Annotated[str, Field(description="Why you look, in a few words.")] = "",  # noqa: ARG001 - for whoever reads the journal
) -> str:
    """List a directory, two levels deep. Build results, caches and version control are left out."""
    where = checked_path(path)
    async with sandbox_call(runtime) as call:
        listing = await call.sandbox.list_dir(where, depth=DEPTH)
    text = render_listing(where, listing.entries, truncated=listing.truncated)
    return cut_head(text, context_of(runtime).tools.ls_chars, "list a directory below it")
