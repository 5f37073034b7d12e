"""Runs with the table's rows, and a test's own among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver

from skerry_api.document import RunDocument
from skerry_runner.agent import Agent, record_fault
from skerry_runner.compose import compose
from skerry_runner.context import RunContext
from skerry_runner.invocation import Invocation
from skerry_runner.llm.calls import Breakers
from skerry_runner.models.build import BuiltModel
from skerry_runner.models.scripted.cursor import ScriptCursor
from skerry_runner.pipeline import BEHIND_CUSTOM, AnyRow, assemble
from skerry_runner.ports import RunResult
from skerry_runner.state import RunnerState
from skerry_runner.tools.catalogue import tools_for
from skerry_testing.runnerworld import RunnerWorld

__all__ = ["play", "rows_of"]


def rows_of(document: RunDocument, extra: Sequence[AnyRow] = ()) -> list[AnyRow]:
    """The table's rows; `extra` where a user's own stand."""
    rows = assemble(document)
    behind = {spec.name for spec in BEHIND_CUSTOM}
    place = next((index for index, row in enumerate(rows) if row.name in behind), len(rows))
    rows[place:place] = extra
    return rows


async def play(
    world: RunnerWorld,
    document: RunDocument,
    *,
    api_key: str | None = None,
    saver: BaseCheckpointSaver[Any] | None = None,
    breakers: Breakers | None = None,
    extra: Sequence[AnyRow] = (),
) -> RunResult:
    """Carry a run out, without its first and last journal lines."""

    def build(
        document: RunDocument,
        built: BuiltModel,
        checkpointer: BaseCheckpointSaver[Any],
        tools: Sequence[BaseTool],
    ) -> Agent:
        rows = rows_of(document, extra)
        if built.playhead is not None:
            rows.append(ScriptCursor())
        return create_agent(
            built.model,
            [*tools_for(document.tools), *tools],
            system_prompt=document.system_prompt,
            middleware=[compose(rows, state_schema=RunnerState, on_fault=record_fault)],
            state_schema=RunnerState,
            context_schema=RunContext,
            checkpointer=checkpointer,
        )

    invocation = Invocation(
        document, world.ports(), api_key=api_key, checkpointer=saver, build=build, breakers=breakers
    )
    async with invocation.session.hold():
        result = await invocation.run()
    invocation.note_unused()
    await world.journal.flush()
    return result
