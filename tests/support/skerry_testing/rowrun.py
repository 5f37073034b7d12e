"""Runs with rows and tools in places that a test chooses, whether the table has them yet or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AnyMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver

from skerry_api.document import RunDocument
from skerry_runner.agent import Agent, record_fault
from skerry_runner.checkpoint import memory_saver
from skerry_runner.compose import compose
from skerry_runner.context import RunContext
from skerry_runner.files import GivenFile
from skerry_runner.invocation import Invocation, thread_key
from skerry_runner.models.build import BuiltModel
from skerry_runner.models.scripted.cursor import ScriptCursor
from skerry_runner.pipeline import AnyRow, assemble
from skerry_runner.ports import RunResult
from skerry_runner.state import RunnerState
from skerry_runner.tools.catalogue import tools_for
from skerry_testing.runnerworld import RunnerWorld

__all__ = ["Played", "placed", "play"]


@dataclass(frozen=True)
class Played:
    """How the run ended, and the thread's state afterwards."""

    result: RunResult
    state: Mapping[str, Any]

    @property
    def messages(self) -> list[AnyMessage]:
        return list(self.state["messages"])


def placed(document: RunDocument, after: Mapping[str, AnyRow], last: Sequence[AnyRow] = ()) -> list[AnyRow]:
    """The table's rows with others behind those that `after` names; rows of the same names give way."""
    names = {row.name for row in (*after.values(), *last)}
    rows: list[AnyRow] = []
    for row in assemble(document):
        if row.name not in names:
            rows.append(row)
        if row.name in after:
            rows.append(after[row.name])
    return [*rows, *last]


async def play(
    world: RunnerWorld,
    document: RunDocument,
    rows: Sequence[AnyRow],
    *,
    tools: Sequence[BaseTool] = (),
    files: Sequence[GivenFile] = (),
    saver: BaseCheckpointSaver[Any] | None = None,
) -> Played:
    """Carry a run out through the real graph; `tools` beside or instead of the catalogue's."""
    saver = saver or memory_saver()

    def build(
        document: RunDocument,
        built: BuiltModel,
        checkpointer: BaseCheckpointSaver[Any],
        _servers: Sequence[BaseTool],
    ) -> Agent:
        own = {tool.name for tool in tools}
        given = [tool for tool in tools_for(document.tools) if tool.name not in own]
        cursor = [ScriptCursor()] if built.playhead is not None else []
        return create_agent(
            built.model,
            [*given, *tools],
            system_prompt=document.system_prompt,
            middleware=[compose([*rows, *cursor], state_schema=RunnerState, on_fault=record_fault)],
            state_schema=RunnerState,
            context_schema=RunContext,
            checkpointer=checkpointer,
        )

    invocation = Invocation(
        document, world.ports(), api_key=None, checkpointer=saver, build=build, files=files
    )
    async with invocation.session.hold():
        result = await invocation.run()
    await world.journal.flush()
    kept = await saver.aget({"configurable": {"thread_id": thread_key(document), "checkpoint_ns": ""}})
    return Played(result, kept["channel_values"] if kept else {})
