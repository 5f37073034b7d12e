"""Runs of one thread with tools from servers, and the row that filters the deferred ones in its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver

from skerry_api.document import RunDocument
from skerry_api.rows.deferredtoolfilter import DeferredToolFilterSettings
from skerry_runner.agent import Agent, record_fault
from skerry_runner.checkpoint import memory_saver
from skerry_runner.compose import compose
from skerry_runner.context import RunContext
from skerry_runner.invocation import Invocation, thread_key
from skerry_runner.middleware.deferredtoolfilter import DeferredToolFilter
from skerry_runner.models.build import BuiltModel
from skerry_runner.models.scripted.cursor import ScriptCursor
from skerry_runner.pipeline import AnyRow, assemble
from skerry_runner.ports import RunResult
from skerry_runner.state import RunnerState
from skerry_runner.tools.catalogue import tools_for
from skerry_runner.toolservers import OpenServers
from skerry_testing.runnerworld import RunnerWorld

__all__ = ["ServerRuns"]


class ServerRuns:
    """`open_servers` may be changed between two runs."""

    def __init__(self, world: RunnerWorld, open_servers: OpenServers, *, fused: bool = True) -> None:
        self.world = world
        self.open_servers = open_servers
        self._fused = fused
        self._saver: BaseCheckpointSaver[Any] = memory_saver()
        self._document: RunDocument | None = None

    def _build(
        self,
        document: RunDocument,
        built: BuiltModel,
        checkpointer: BaseCheckpointSaver[Any],
        tools: Sequence[BaseTool],
    ) -> Agent:
        row = DeferredToolFilter(DeferredToolFilterSettings(), [("srv", "For all things.")])
        rows: list[AnyRow] = [each for each in assemble(document) if each.name != row.name]
        # Inside the base rows, which end with this one.
        at = [each.name for each in rows].index("ToolErrorHandling") + 1
        rows[at:at] = [row]
        rows.append(ScriptCursor())
        fused: list[AnyRow] = [compose(rows, state_schema=RunnerState, on_fault=record_fault)]
        return create_agent(
            built.model,
            [*tools_for(document.tools), *tools],
            system_prompt=document.system_prompt or None,
            middleware=fused if self._fused else rows,
            state_schema=RunnerState,
            context_schema=RunContext,
            checkpointer=checkpointer,
        )

    async def play(self, document: RunDocument) -> RunResult:
        """Carry out a run; what the journal says of it is flushed."""
        self._document = document
        invocation = Invocation(
            document,
            self.world.ports(),
            api_key=None,
            checkpointer=self._saver,
            build=self._build,
            servers=self.open_servers,
        )
        async with invocation.session.hold():
            result = await invocation.run()
        await self.world.journal.flush()
        return result

    async def values(self) -> dict[str, Any]:
        """The newest checkpoint's state of the last run's thread."""
        assert self._document is not None
        where = {"thread_id": thread_key(self._document), "checkpoint_ns": ""}
        kept = await self._saver.aget({"configurable": where})
        assert kept is not None
        return dict(kept["channel_values"])
