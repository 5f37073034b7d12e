"""write_file: make or replace a text file in the sandbox, or add to its end."""

from __future__ import annotations

from typing import Annotated

from langchain_core.tools import tool
from pydantic import Field

from skerry_runner.tools.call import Runtime, checked_path, context_of, sandbox_call
from skerry_runner.tools.errors import ToolFailure

__all__ = ["encoded", "write_file"]


def encoded(content: str, *, limit: int, append: bool) -> bytes:
    """The bytes to write.

    Raises:
        ToolFailure: too many for one call, or not to be encoded.
    """
    try:
        raw = content.encode()
    except UnicodeEncodeError as error:
        raise ToolFailure(f"the content holds half of a surrogate pair at character {error.start}") from error
    if limit > 0 and len(raw) > limit and not append:
        raise ToolFailure(
            f"{len(raw)} bytes are too many for one call (at most {limit}): write the beginning, then add the rest "
            "with append"
        )
    return raw


@tool("write_file")
async def write_file(
    path: Annotated[str, Field(min_length=1, description="Absolute path below /mnt/user-data.")],
    content: Annotated[str, Field(description="The text.")],
    runtime: Runtime,
    description: Annotated[str, Field(description="Why you write it, in a few words.")] = "",  # noqa: ARG001 - for whoever reads the journal
    append: Annotated[bool, Field(description="Add to the end instead of replacing.")] = False,
) -> str:
    """Write a text file; missing directories are made. Replaces what is there unless append is true."""
    where = checked_path(path, write=True)
    raw = encoded(content, limit=context_of(runtime).tools.write_bytes, append=append)
    async with sandbox_call(runtime) as call, context_of(runtime).sandbox.path_lock(where):
        size = await call.sandbox.write_file(where, raw, append=append)
    return f"OK: {where} has {size} bytes"
