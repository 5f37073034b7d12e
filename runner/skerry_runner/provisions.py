"""What a sandbox gets before anybody works in it, a server of tools included: the run's files, the profile's skills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from skerry_api.document import RunDocument
from skerry_runner.files import GivenFile
from skerry_runner.paths import SKILLS
from skerry_runner.persistence.claim import thread_key
from skerry_runner.persistence.opening import KeptState
from skerry_runner.session import SandboxSession
from skerry_runner.skills import Skill, files_of

__all__ = ["prompt_id", "provide"]


def prompt_id(document: RunDocument) -> str:
    """Id of the message that the run begins with."""
    return f"{document.run.uid}__prompt"


async def provide(
    session: SandboxSession,
    document: RunDocument,
    kept: KeptState,
    *,
    files: Sequence[GivenFile],
    skills: Sequence[Skill],
) -> None:
    """Stage them, and what earlier epochs and runs of the thread have left; write at once what needs no sandbox.

    Raises:
        StagingFull: together the files are too large.
        RunEnded: kept state can't be had.
    """
    staging = session.staging
    left = await staging.keep_in(kept.waiting)
    again = bool(files) and await _begun(document, kept.saver)
    for file in files:
        if again and file.path not in left:
            # An earlier epoch brought it, and it may have been worked on since.
            staging.add(file.path, file.data, keep=True, only_missing=True)
        else:
            await staging.entrust(file.path, file.data, keep=True)
    staging.recall()
    await session.write_through()
    if skills:
        staging.install(SKILLS, files_of(skills))


async def _begun(document: RunDocument, saver: BaseCheckpointSaver[Any]) -> bool:
    """Whether an earlier epoch of this run has left a checkpoint."""
    config: RunnableConfig = {"configurable": {"thread_id": thread_key(document), "checkpoint_ns": ""}}
    kept = await saver.aget_tuple(config)
    messages = kept.checkpoint["channel_values"].get("messages", ()) if kept else ()
    return any(message.id == prompt_id(document) for message in messages)
