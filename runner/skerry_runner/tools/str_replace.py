"""str_replace: change a passage of a text file in the sandbox, which must be the only one of its kind."""

from __future__ import annotations

from typing import Annotated

from langchain_core.tools import tool
from pydantic import Field

from skerry_runner.sandbox.errors import FileTooLarge
from skerry_runner.tools.call import Runtime, checked_path, context_of, sandbox_call
from skerry_runner.tools.errors import ToolFailure
from skerry_runner.tools.text import is_binary
from skerry_runner.tools.write_file import encoded

__all__ = ["replaced", "str_replace"]

PLACES_SHOWN = 10


def replaced(data: bytes, old: bytes, new: bytes, *, everywhere: bool) -> tuple[bytes, int]:
    """The file with `old` replaced, and how often. Bytes, so that what is no UTF-8 elsewhere in it stays.

    Raises:
        ToolFailure: `old` is not there, or is there more than once and not all are meant.
    """
    count = data.count(old)
    if count == 0:
        raise ToolFailure(
            f"old_str is not in the file{_near_miss(data, old)}; read the part that you mean again"
        )
    if not everywhere and (count > 1 or data.find(old, data.find(old) + 1) >= 0):
        raise ToolFailure(
            f"old_str is in the file more than once (lines {_lines(data, old)}): add lines around it until it is "
            "the only one, or set replace_all"
        )
    return data.replace(old, new), count


def _near_miss(data: bytes, old: bytes) -> str:
    if b"\r\n" in data and old.replace(b"\r\n", b"\n") in data.replace(b"\r\n", b"\n"):
        return " (the file's lines end in CR LF)"
    if old.strip() and old.strip() in data:
        return " (only without the white space around it)"
    return ""


def _lines(data: bytes, old: bytes) -> str:
    places: list[str] = []
    at = data.find(old)
    while at >= 0 and len(places) <= PLACES_SHOWN:
        places.append(str(data.count(b"\n", 0, at) + 1))
        at = data.find(old, at + 1)
    return ", ".join(places[:PLACES_SHOWN]) + (" …" if len(places) > PLACES_SHOWN else "")


@tool("str_replace")
async def str_replace(  # noqa: PLR0917 - a tool's arguments go by name
    path: Annotated[str, Field(min_length=1, description="Absolute path below /mnt/user-data.")],
    old_str: Annotated[
        str, Field(min_length=1, description="The passage, exactly as it stands in the file.")
    ],
    new_str: Annotated[str, Field(description="What comes in its place; empty to delete it.")],
    runtime: Runtime,
    description: Annotated[str, Field(description="Why you change it, in a few words.")] = "",  # noqa: ARG001 - for whoever reads the journal
    replace_all: Annotated[bool, Field(description="Replace every one, not the only one.")] = False,
) -> str:
    """Replace a passage of a text file. It must be in the file exactly once, unless replace_all is true."""
    where, limits = checked_path(path, write=True), context_of(runtime).tools
    old = encoded(old_str, limit=limits.write_bytes, append=False)
    new = encoded(new_str, limit=limits.write_bytes, append=False)
    if old == new:
        raise ToolFailure("old_str and new_str are the same: there is nothing to change")
    async with sandbox_call(runtime) as call, context_of(runtime).sandbox.path_lock(where):
        data = await call.sandbox.read_file(where, limit=limits.edit_bytes + 1)
        if len(data) > limits.edit_bytes:
            raise FileTooLarge(where, f"{where} has more than {limits.edit_bytes} bytes: change it with bash")
        if is_binary(data):
            raise ToolFailure(f"{where} is a binary file")
        changed, count = replaced(data, old, new, everywhere=replace_all)
        if len(changed) > limits.edit_bytes:
            raise ToolFailure(
                f"{where} would have {len(changed)} bytes, more than the {limits.edit_bytes} allowed"
            )
        size = await call.sandbox.write_file(where, changed)
    return f"OK: {count} replaced; {where} has {size} bytes"
