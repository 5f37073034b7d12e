"""The whole chain, by running it: who acts in which hook and in which order, with every condition on and off.

ORDERS is the contract. A row that is new in the table has no place there yet, and these tests ask for one.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import BaseTool

from skerry_api.document import RunDocument
from skerry_runner.agent import Agent
from skerry_runner.compose import compose
from skerry_runner.compose.rows import Hook
from skerry_runner.context import RunContext
from skerry_runner.invocation import Invocation
from skerry_runner.models.build import BuiltModel
from skerry_runner.models.scripted.cursor import ScriptCursor
from skerry_runner.pipeline import ROWS, assemble
from skerry_runner.state import RunnerState
from skerry_runner.tools.catalogue import tools_for
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.watchedrows import watched

SCRIPT = "steps: [{toolCalls: [{name: ls, args: {path: /mnt/user-data/workspace}}]}, {say: done}]"
CUSTOM = "Polite"
ORDERS: dict[Hook, list[str]] = {
    Hook.BEFORE_AGENT: [
        "ThreadData", "Uploads", "Sandbox", "DynamicContext", "TodoList", "ViewImage", "LoopDetection", CUSTOM,
    ],
    Hook.BEFORE_MODEL: ["RunGate", "Summarization", "TodoList", "ViewImage"],
    Hook.WRAP_MODEL_CALL: [
        "ToolOutputBudget", "DanglingToolCall", "LLMErrorHandling", "SkillActivation", "TodoList", "ViewImage",
        "DeferredToolFilter", "LoopDetection", CUSTOM,
    ],
    Hook.AFTER_MODEL: [
        "SafetyFinishReason", "LoopDetection", "SubagentLimit", "Title", "TokenUsage", "TodoList", "RunGate",
    ],
    Hook.WRAP_TOOL_CALL: [
        "RunGate", "ToolOutputBudget", "Sandbox", "Guardrail", "SandboxAudit", "ToolErrorHandling",
        "DeferredToolFilter", "Clarification",
    ],
    Hook.AFTER_AGENT: ["LoopDetection", "ViewImage", "Memory", "Title", "TodoList", "Sandbox", "RunGate"],
}  # fmt: skip
"""By hook, in the order in which the rows are called."""

Fields = dict[str, Any]
CONDITIONS: dict[str, tuple[Fields, Fields]] = {
    "ToolOutputBudget": ({}, {"toolOutputBudget": {"enabled": False}}),
    "Guardrail": ({"guardrail": {"deny": ["bash"]}}, {}),
    "Summarization": ({"summarization": {"enabled": True}}, {}),
    "TodoList": ({"todoList": {"enabled": True}}, {}),
    "TokenUsage": ({}, {"tokenUsage": {"enabled": False}}),
    "Memory": ({"memory": {"enabled": True}}, {}),
    "ViewImage": ({"vision": True}, {}),
    "DeferredToolFilter": ({"mcp_servers": [{"name": "wiki", "transport": "StreamableHTTP", "url": "http://192.0.2.1/mcp"}]}, {}),
    "SubagentLimit": ({"subagents": {"enabled": True}}, {}),
    "LoopDetection": ({}, {"loopDetection": {"enabled": False}}),
    CUSTOM: ({"custom": [{"path": "skerry_testing.customrows:Polite", "settings": {"word": "please"}}]}, {}),
    "SafetyFinishReason": ({}, {"safetyFinishReason": {"enabled": False}}),
}  # fmt: skip
"""By row, what brings it in and what leaves it out. Keys that are no argument of `document` are the pipeline's."""
_ARGUMENTS = {"vision", "mcp_servers", "subagents", "guardrail"}
TABLE = {spec.name for spec in ROWS} | {CUSTOM}
OPTIONAL = sorted(CONDITIONS.keys() & TABLE)


@functools.cache
def given(present: frozenset[str]) -> RunDocument:
    """A document with exactly these of the optional rows."""
    fields: Fields = {}
    for name in OPTIONAL:
        fields |= CONDITIONS[name][0 if name in present else 1]
    arguments = {key: fields.pop(key) for key in _ARGUMENTS & fields.keys()}
    return document(SCRIPT, pipeline=fields, **arguments)


async def dispatched(what: RunDocument) -> dict[Hook, list[str]]:
    """Which rows were called in which hook of a run with a tool call, each by its first call."""
    seen: dict[Hook, list[str]] = {hook: [] for hook in Hook}

    def build(_: RunDocument, built: BuiltModel, checkpointer: Any, tools: Sequence[BaseTool]) -> Agent:
        rows = [watched(row, lambda hook, name: seen[hook].append(name)) for row in assemble(what)]
        return create_agent(
            built.model,
            [*tools_for(what.tools), *tools],
            middleware=[compose([*rows, ScriptCursor()], state_schema=RunnerState)],
            state_schema=RunnerState,
            context_schema=RunContext,
            checkpointer=checkpointer,
        )

    async with RunnerWorld() as world:
        invocation = Invocation(what, world.ports(), api_key=None, checkpointer=None, build=build)
        async with invocation.session.hold():
            result = await invocation.run()
    assert result.answer == "done", result.outcome
    return {hook: list(dict.fromkeys(names)) for hook, names in seen.items()}


def ids(present: frozenset[str]) -> str:
    absent = [name for name in OPTIONAL if name not in present]
    if len(absent) <= 1:
        return f"without {absent[0]}" if absent else "everything"
    return f"only {', '.join(present)}" if present else "nothing optional"


ALL = frozenset(OPTIONAL)
CASES = [ALL, frozenset(), *(ALL - {name} for name in OPTIONAL), *(frozenset({name}) for name in OPTIONAL)]


@pytest.mark.parametrize("present", CASES, ids=ids)
async def test_who_acts_where_and_in_which_order(present: frozenset[str]) -> None:
    there = (TABLE - ALL) | present
    assert {row.name for row in assemble(given(present))} == there
    expected = {hook: [name for name in order if name in there] for hook, order in ORDERS.items()}
    assert await dispatched(given(present)) == expected


def test_every_row_of_the_table_has_a_place_and_every_condition_is_tried() -> None:
    placed = {name for order in ORDERS.values() for name in order}
    assert placed >= TABLE, f"no hook of ORDERS names {TABLE - placed}"
    default = {row.name for row in assemble(document(SCRIPT))}
    bare = {spec.name: spec.when(given(frozenset())).present for spec in ROWS}
    always = {name for name, there in bare.items() if there}
    assert {spec.name for spec in ROWS} == always | (ALL - {CUSTOM}), "a row's condition is not in CONDITIONS"
    assert default - always == {"ToolOutputBudget", "TokenUsage", "LoopDetection", "SafetyFinishReason"}
