"""The agent of one execution: its own graph with the rows that subagents get."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool

from skerry_api.document import RunDocument
from skerry_api.phases import Acquire
from skerry_runner.agent import Agent, record_fault, seal_pairs, steps_for
from skerry_runner.compose import compose
from skerry_runner.context import RunContext
from skerry_runner.deferred import NoDeferredTools
from skerry_runner.models.build import BuiltModel
from skerry_runner.models.observer import AGENT_KEY, EXECUTION_KEY
from skerry_runner.models.scripted.cursor import ScriptCursor
from skerry_runner.models.scripted.model import ScriptedModel
from skerry_runner.models.scripted.playhead import Part
from skerry_runner.pipeline import assemble
from skerry_runner.rowspec import AnyRow
from skerry_runner.state import RunnerState
from skerry_runner.subagents.kinds import SubagentKind
from skerry_runner.subagents.port import Order
from skerry_runner.subagents.steps import KeptTotals, SubagentSteps
from skerry_runner.tools.catalogue import tools_for

__all__ = ["build_child", "child_config", "child_context", "part_of"]


def part_of(order: Order) -> Part:
    """Who plays in a script: this execution, the steps of its kind from the first."""
    return Part(agent=order.kind.name, prompt=order.prompt, execution=order.execution)


def _voice(built: BuiltModel, order: Order) -> BaseChatModel:
    model = built.model
    return model.for_part(part_of(order)) if isinstance(model, ScriptedModel) else model


def build_child(
    document: RunDocument,
    built: BuiltModel,
    servers: Sequence[BaseTool],
    order: Order,
    steps: SubagentSteps,
) -> Agent:
    """Assemble it. Takes some milliseconds of CPU: not for the event loop.

    State is kept where the lead's is kept, below the call of `task`: an epoch that makes the call again goes on from
    the last step.
    """
    kind = order.kind
    tools: list[BaseTool] = [*tools_for(kind.tools), *(servers if kind.mcp_tools else ())]
    table = assemble(document, subagent=True)
    kept = [row for row in table if kind.mcp_tools or row.name != "DeferredToolFilter"]
    rows: list[AnyRow] = [KeptTotals(), *kept, steps]
    if built.playhead is not None:
        rows.append(ScriptCursor())
    return create_agent(
        _voice(built, order),
        tools,
        system_prompt=kind.system_prompt,
        middleware=[compose(rows, state_schema=RunnerState, on_fault=record_fault, seal=seal_pairs)],
        state_schema=RunnerState,
        context_schema=RunContext,
    )


def child_context(lead: RunContext, order: Order) -> RunContext:
    """What the subagent's rows and tools may reach: the run's, with bounds and a name of its own, and no way to delegate."""
    kind: SubagentKind = order.kind
    return replace(
        lead,
        agent=kind.name,
        execution=order.execution,
        max_turns=kind.max_turns,
        max_tokens=kind.max_tokens,
        acquire=Acquire.LAZY,
        tally=lead.tally.child(order.execution),
        deferred=lead.deferred if kind.mcp_tools else NoDeferredTools(),
        subagents=None,
        skills=(),
        files=(),
    )


def child_config(order: Order) -> RunnableConfig:
    """How its graph is invoked; callbacks and the place for checkpoints are inherited from the call around it."""
    metadata: dict[str, Any] = {AGENT_KEY: order.kind.name, EXECUTION_KEY: order.execution}
    return {
        "run_name": order.kind.name,
        "metadata": metadata,
        "recursion_limit": steps_for(order.kind.max_turns),
    }
