"""view_image: have an image of the sandbox shown to the model with its next request (see the row ViewImage)."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Annotated, Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.types import Command
from pydantic import Field

from skerry_runner.images import IMAGE_TYPES, sniffed, type_by_name
from skerry_runner.paths import OUTPUTS, UPLOADS, WORKSPACE
from skerry_runner.state import ViewedImage
from skerry_runner.tools.call import Runtime, checked_path, context_of, sandbox_call
from skerry_runner.tools.errors import ToolFailure

__all__ = ["checked_image", "view_image"]

_FOLDERS = (WORKSPACE, UPLOADS, OUTPUTS)


def checked_image(path: str, mime: str, data: bytes, limit: int) -> None:
    """Whether these bytes are the image that the name promises.

    Raises:
        ToolFailure: they are not, or too many.
    """
    if len(data) > limit:
        raise ToolFailure(f"{path} has more than {limit} bytes: make it smaller first")
    if not data:
        raise ToolFailure(f"{path} is empty")
    found = sniffed(data)
    if found != mime:
        raise ToolFailure(f"{path} is named as {mime}, but holds {found or 'no image that can be shown'}")


@tool("view_image")
async def view_image(
    image_path: Annotated[
        str, Field(min_length=1, description=f"Its path, below one of {', '.join(_FOLDERS)}.")
    ],
    runtime: Runtime,
    description: Annotated[str, Field(description="Why you look at it, in a few words.")] = "",  # noqa: ARG001 - for whoever reads the journal
) -> Command[Any]:
    """Look at an image file (jpg, png, webp or gif). You see it right after this call."""
    where, limit = checked_path(image_path), context_of(runtime).tools.image_bytes
    mime = type_by_name(where)
    if mime is None:
        raise ToolFailure(f"{where} is no image by its name; known: {', '.join(IMAGE_TYPES)}")
    if not any(where.startswith(folder + "/") for folder in _FOLDERS):
        raise ToolFailure(f"{where} is in none of {', '.join(_FOLDERS)}")
    async with sandbox_call(runtime) as call:
        data = await call.sandbox.read_file(where, limit=limit + 1)
    checked_image(where, mime, data, limit)
    digest = await asyncio.to_thread(lambda: hashlib.sha256(data).hexdigest())
    call_id = runtime.tool_call_id or ""
    image = ViewedImage(call=call_id, path=where, mime=mime, size=len(data), sha256=digest)
    message = ToolMessage(f"OK: {where} ({mime}, {len(data)} bytes)", tool_call_id=call_id, name="view_image")
    return Command(update={"viewed_images": [image], "messages": [message]})
