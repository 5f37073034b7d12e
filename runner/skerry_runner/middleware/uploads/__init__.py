"""Uploads: tells the agent which files the user gave, with this message and before. Contents are never pasted in.

The contents themselves go by the session's staging: into the sandbox when it is first acquired, in this run or a later
one of the thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime
from typing_extensions import override

from skerry_api.rows.uploads import UploadsSettings
from skerry_runner.context import RunContext
from skerry_runner.files import GivenFile
from skerry_runner.messages import is_user_message
from skerry_runner.middleware.uploads.block import with_block
from skerry_runner.middleware.uploads.outline import file_type, outline
from skerry_runner.paths import UPLOADS
from skerry_runner.ports import ThreadFiles
from skerry_runner.sandbox.errors import PathError, SandboxError
from skerry_runner.state import RunnerState, UploadedFile

__all__ = ["Uploads", "index_of"]


def index_of(files: Sequence[GivenFile], settings: UploadsSettings) -> list[UploadedFile]:
    """What is told of files; the last of several with one name counts. CPU work: call it off the event loop."""
    index = {}
    for file in files:
        kind = file_type(file.name, file.data)
        lines = outline(file.data, kind, lines=settings.outline_lines, chars=settings.outline_line_chars)
        index[file.name] = UploadedFile(name=file.name, size=len(file.data), type=kind, outline=lines)
    return list(index.values())


async def _still_there(files: ThreadFiles | None, index: Sequence[UploadedFile]) -> list[UploadedFile]:
    """Those that were not deleted since, as far as that can be seen without a sandbox."""
    if files is None:
        return list(index)
    found = []
    for file in index:
        try:
            await files.stat(f"{UPLOADS}/{file['name']}")
        except PathError:
            continue
        except SandboxError:
            pass  # unknown is not gone
        found.append(file)
    return found


class Uploads(AgentMiddleware[RunnerState, RunContext, Any]):
    """Lead only: a subagent is told what it needs by its prompt."""

    state_schema = RunnerState

    def __init__(self, settings: UploadsSettings) -> None:
        super().__init__()
        self._settings = settings

    @override
    async def abefore_agent(self, state: RunnerState, runtime: Runtime[RunContext]) -> dict[str, Any] | None:
        context = runtime.context
        message = state["messages"][-1] if state["messages"] else None
        if not isinstance(message, HumanMessage) or not is_user_message(message):
            return None
        new = await asyncio.to_thread(index_of, context.files, self._settings)
        names = {file["name"] for file in new}
        known = [file for file in state.get("uploads") or () if file["name"] not in names]
        files = context.sandbox.thread_files
        older = await _still_there(files, known)
        if not new and not older:
            return None
        return {
            "messages": [with_block(message, new, older, shown=self._settings.shown, seen=files is not None)],
            "uploads": new,
        }
