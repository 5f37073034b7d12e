"""Runs with a chosen set of rows among those that every run needs, fused or as separate middlewares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver

from skerry_api.document import RunDocument
from skerry_runner.agent import Agent, record_fault
from skerry_runner.checkpoint import memory_saver
from skerry_runner.compose import compose
from skerry_runner.context import RunContext
from skerry_runner.invocation import Invocation
from skerry_runner.memory import MemorySource
from skerry_runner.middleware.rungate import RunGate
from skerry_runner.middleware.threaddata import ThreadData
from skerry_runner.middleware.toolerrors import ToolErrorHandling
from skerry_runner.models.build import BuiltModel
from skerry_runner.models.scripted.cursor import ScriptCursor
from skerry_runner.pipeline import AnyRow
from skerry_runner.ports import RunResult
from skerry_runner.skills import Skill
from skerry_runner.state import RunnerState
from skerry_runner.tools.catalogue import tools_for
from skerry_runner.toolservers import OpenServers, no_servers
from skerry_testing.runnerworld import RunnerWorld

__all__ = ["ThreadRuns"]


class ThreadRuns:
    """A thread on which runs are played one after the other, with the same instances of rows."""

    def __init__(
        self,
        world: RunnerWorld,
        *rows: AnyRow,
        skills: Sequence[Skill] = (),
        memory: MemorySource | None = None,
        extra_tools: Sequence[BaseTool] = (),
        fused: bool = True,
        servers: OpenServers = no_servers,
    ) -> None:
        self.world = world
        self.rows = [RunGate(), ThreadData(), ToolErrorHandling(), *rows]
        self.saver: BaseCheckpointSaver[Any] = memory_saver()
        self._skills, self._memory = skills, memory
        self._extra_tools, self._fused = extra_tools, fused
        self._servers = servers

    def _build(
        self,
        document: RunDocument,
        built: BuiltModel,
        checkpointer: BaseCheckpointSaver[Any],
        tools: Sequence[BaseTool],
    ) -> Agent:
        rows = [*self.rows, ScriptCursor()]
        fused: list[AnyRow] = [compose(rows, state_schema=RunnerState, on_fault=record_fault)]
        return create_agent(
            built.model,
            [*tools_for(document.tools), *self._extra_tools, *tools],
            system_prompt=document.system_prompt or None,
            middleware=fused if self._fused else rows,
            state_schema=RunnerState,
            context_schema=RunContext,
            checkpointer=checkpointer,
        )

    async def play(self, document: RunDocument) -> RunResult:
        """Carry out a run; what the journal says of it is flushed."""
        invocation = Invocation(
            document,
            self.world.ports(),
            api_key=None,
            checkpointer=self.saver,
            build=self._build,
            skills=self._skills,
            memory=self._memory,
            servers=self._servers,
        )
        async with invocation.session.hold():
            result = await invocation.run()
        invocation.note_unused()
        await self.world.journal.flush()
        return result

    async def values(self) -> dict[str, Any]:
        """The newest checkpoint's state."""
        (kept,) = [item async for item in self.saver.alist(None, limit=1)]
        return dict(kept.checkpoint["channel_values"])

    async def messages(self) -> list[BaseMessage]:
        """The thread's messages as they are kept."""
        return list((await self.values())["messages"])
