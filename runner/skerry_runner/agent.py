"""The agent of one run: model, tools and pipeline as one graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware.types import ModelRequest
from langchain_core.tools import BaseTool
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph.state import CompiledStateGraph

from skerry_api.document import RunDocument
from skerry_api.rows.danglingtoolcall import DanglingToolCallSettings
from skerry_runner import events
from skerry_runner.compose import RowFault, compose
from skerry_runner.compose.rows import Hook
from skerry_runner.context import RunContext
from skerry_runner.middleware.danglingtoolcall.seal import in_pairs, with_pairs
from skerry_runner.models.build import BuiltModel
from skerry_runner.models.scripted.cursor import ScriptCursor
from skerry_runner.pipeline import assemble
from skerry_runner.rowspec import AnyRow
from skerry_runner.state import RunnerState
from skerry_runner.tools.catalogue import tools_for

__all__ = ["Agent", "build_agent", "record_fault", "seal_pairs", "steps_for"]

Agent = CompiledStateGraph[Any, RunContext, Any, Any]


STEPS_PER_TURN = 4
"""Graph steps of a turn: before_model, model, after_model, tools. The graph's own limit must not bite first."""
STEPS_SPARE = 100


def steps_for(turns: int) -> int:
    """The graph's own limit for so many turns."""
    return STEPS_PER_TURN * turns + STEPS_SPARE


def record_fault(context: RunContext | None, fault: RowFault) -> None:
    """Journal a row's fault."""
    if context is not None:
        context.journal.emit(
            events.PipelineFault(
                row=fault.row,
                hook=fault.hook,
                error=fault.error,
                message=events.clip(fault.message),
                tool_call_id=fault.tool_call_id,
            ),
            agent=context.agent,
        )


def seal_pairs(request: ModelRequest[Any]) -> ModelRequest[Any]:
    """A row may have come between a call and its result, a user's own last of all: no provider would take that."""
    if in_pairs(request.messages):
        return request
    fault = RowFault(
        "Pipeline",
        Hook.WRAP_MODEL_CALL,
        "BrokenPairing",
        "a row parted a tool's call from its result; the request was mended",
    )
    record_fault(request.runtime.context, fault)
    return with_pairs(request, detail_max=DanglingToolCallSettings().max_error_chars)


def build_agent(
    document: RunDocument,
    built: BuiltModel,
    checkpointer: BaseCheckpointSaver[Any],
    tools: Sequence[BaseTool] = (),
) -> Agent:
    """Assemble the lead agent.

    Raises:
        PipelineError: the rows do not fit together.
        InvalidDocument: a row of the user's own can't be made.
    """
    rows: list[AnyRow] = assemble(document)
    if built.playhead is not None:
        rows.append(ScriptCursor())
    pipeline = compose(rows, state_schema=RunnerState, on_fault=record_fault, seal=seal_pairs)
    return create_agent(
        built.model,
        [*tools_for(document.tools), *tools],
        system_prompt=document.system_prompt or None,
        middleware=[pipeline],
        state_schema=RunnerState,
        context_schema=RunContext,
        checkpointer=checkpointer,
    )
