"""read_file: a text file of the sandbox, or some lines of it."""

from __future__ import annotations

from typing import Annotated

from langchain_core.tools import tool
from pydantic import Field

from skerry_runner.sandbox.types import Sandbox
from skerry_runner.tools.call import Runtime, checked_path, context_of, sandbox_call
from skerry_runner.tools.errors import ToolFailure
from skerry_runner.tools.text import cut_head, decode, is_binary

__all__ = ["read_file", "read_lines"]

CHUNK = 1024 * 1024
SCAN_MAX = 64 * CHUNK
"""How far a file is read to find lines, in bytes."""
_HINT = "use start_line and end_line to see more"


async def read_lines(sandbox: Sandbox, path: str, *, start: int, end: int | None, limit: int) -> str:
    """Lines `start` to `end` (from 1, inclusive, None: to the end), at most `limit` characters.

    Raises:
        ToolFailure: the file is binary, shorter, or too long to look through.
        SandboxError: what the sandbox says.
    """
    kept = bytearray()
    line, offset, pending = 1, 0, b""
    # UTF-8 needs up to four bytes for a character: with more the cut is certain, and how long the rest is, is not told.
    enough = 4 * limit + 4 if limit > 0 else SCAN_MAX
    while True:
        chunk = await sandbox.read_file(path, offset=offset, limit=CHUNK)
        if offset == 0 and not chunk:
            return "(empty)"
        if offset == 0 and is_binary(chunk):
            info = await sandbox.stat(path)
            return (
                f"(binary file of {info.size} bytes; look at it with bash, for example with `file` or `xxd`)"
            )
        offset += len(chunk)
        pieces = (pending + chunk).split(b"\n")
        pending = pieces.pop() if chunk else b""
        lines = [piece + b"\n" for piece in pieces] if chunk else [piece for piece in pieces if piece]
        for text in lines:
            if line >= start and (end is None or line <= end):
                kept += text
            line += 1
        if not chunk or (end is not None and line > end) or len(kept) > enough:
            break
        if offset >= SCAN_MAX:
            raise ToolFailure(f"{path} is too long to look for line {start}; use bash, for example `sed -n`")
    if not kept:
        raise ToolFailure(f"start_line {start} is past the end of {path}: it has {line - 1} lines")
    return cut_head(decode(bytes(kept)).rstrip("\n") or "(only empty lines)", limit, _HINT)


@tool("read_file")
async def read_file(
    path: Annotated[
        str, Field(min_length=1, description="Absolute path below /mnt/user-data or /mnt/skills.")
    ],
    runtime: Runtime,
    description: Annotated[str, Field(description="Why you read it, in a few words.")] = "",  # noqa: ARG001 - for whoever reads the journal
    start_line: Annotated[int | None, Field(description="First line, from 1.")] = None,
    end_line: Annotated[int | None, Field(description="Last line, inclusive.")] = None,
) -> str:
    """Read a text file. Give start_line and end_line to read a part of a long one."""
    start = 1 if start_line is None else start_line
    if start < 1:
        raise ToolFailure("start_line must be at least 1")
    if end_line is not None and end_line < start:
        raise ToolFailure(f"end_line {end_line} is before start_line {start}: there are no such lines")
    where = checked_path(path)
    async with sandbox_call(runtime) as call:
        return await read_lines(
            call.sandbox, where, start=start, end=end_line, limit=context_of(runtime).tools.read_chars
        )
