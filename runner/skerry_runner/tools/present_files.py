"""present_files: say which files of the sandbox are the run's results."""

from __future__ import annotations

import mimetypes
from collections.abc import AsyncIterator
from typing import Annotated, Any

from langchain_core.messages import ToolMessage
from langchain_core.tools import tool
from langgraph.types import Command
from pydantic import Field

from skerry_runner.artifacts import take
from skerry_runner.context import RunContext
from skerry_runner.events import ArtifactPresented
from skerry_runner.paths import OUTPUTS
from skerry_runner.sandbox.types import EntryKind, Sandbox
from skerry_runner.state import Artifact
from skerry_runner.tools.call import Runtime, checked_path, context_of, sandbox_call
from skerry_runner.tools.errors import ToolFailure

__all__ = ["present_files"]

FILES_MAX = 64


def _output(path: str) -> str:
    where = checked_path(path)
    if not where.startswith(OUTPUTS + "/"):
        raise ToolFailure(f"{path} is not in {OUTPUTS}: put results there first; nothing was presented")
    return where


_CHUNK = 1024 * 1024


async def _chunks(sandbox: Sandbox, path: str) -> AsyncIterator[bytes]:
    offset = 0
    while chunk := await sandbox.read_file(path, offset=offset, limit=_CHUNK):
        offset += len(chunk)
        yield chunk


async def _artifact(sandbox: Sandbox, path: str, context: RunContext) -> Artifact:
    info = await sandbox.stat(path)
    if info.kind is not EntryKind.FILE:
        raise ToolFailure(f"{path} is a {info.kind}, not a file; nothing was presented")
    # What stat names may still not be ours to read.
    await sandbox.read_file(path, limit=1)
    taken = await take(context.artifacts, _chunks(sandbox, path), info.size)
    kind = mimetypes.guess_type(path, strict=False)[0] or "application/octet-stream"
    return Artifact(
        run=context.run, path=path, size=taken.size, type=kind, sha256=taken.sha256, kept=taken.kept
    )


@tool("present_files")
async def present_files(
    filepaths: Annotated[
        list[str],
        Field(min_length=1, max_length=FILES_MAX, description="Absolute paths below /mnt/user-data/outputs."),
    ],
    runtime: Runtime,
    description: Annotated[str, Field(description="What they are, in a few words.")] = "",  # noqa: ARG001 - for whoever reads the journal
) -> Command[Any]:
    """Present files of /mnt/user-data/outputs to the user as results. If one can't be presented, none is."""
    paths = list(dict.fromkeys(_output(path) for path in filepaths))
    context = context_of(runtime)
    async with sandbox_call(runtime) as call:
        artifacts = [await _artifact(call.sandbox, path, context) for path in paths]
    for artifact in artifacts:
        event = ArtifactPresented(
            path=artifact["path"],
            size=artifact["size"],
            media_type=artifact["type"],
            sha256=artifact["sha256"],
            available=artifact["kept"],
        )
        context.journal.emit(event, agent=context.agent)
    context.tally.present(artifacts)
    listed = "\n".join(f"{artifact['path']} ({artifact['size']} bytes)" for artifact in artifacts)
    message = ToolMessage(
        f"OK: presented to the user:\n{listed}", tool_call_id=runtime.tool_call_id or "", name="present_files"
    )
    return Command(update={"artifacts": artifacts, "messages": [message]})
