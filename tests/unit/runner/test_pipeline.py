"""The table: order, reasons, invariants; and the real rows fused or apart."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import BaseTool

from skerry_api.document import RunDocument
from skerry_runner.agent import Agent, build_agent
from skerry_runner.checkpoint import memory_saver
from skerry_runner.compose import compose
from skerry_runner.compose.rows import Hook, PipelineError
from skerry_runner.context import RunContext
from skerry_runner.invariants import INVARIANTS, First, Invariant, check_order
from skerry_runner.invocation import AgentBuilder, Invocation
from skerry_runner.models.build import BuiltModel
from skerry_runner.models.scripted.cursor import ScriptCursor
from skerry_runner.pipeline import ROWS, assemble, rows_for
from skerry_runner.rowspec import AnyRow, Presence, RowSpec
from skerry_runner.state import RunnerState
from skerry_runner.tools.catalogue import tools_for
from skerry_testing.customrows import Polite
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.watchedrows import watched

FULL = document(
    "steps: [{toolCalls: [{name: ls, args: {path: /mnt/user-data/workspace}}]}, {say: done}]",
    vision=True,
    pipeline={
        "summarization": {"enabled": True},
        "todoList": {"enabled": True},
        "memory": {"enabled": True},
        "custom": [{"path": "skerry_testing.customrows:Polite", "settings": {"word": "please"}}],
    },
    guardrail={"deny": ["none"]},
    mcp_servers=[{"name": "wiki", "transport": "StreamableHTTP", "url": "http://192.0.2.1/mcp"}],
    subagents={"enabled": True},
)
"""Every row is there."""
ALWAYS = [
    "RunGate", "ThreadData", "Uploads", "Sandbox", "DanglingToolCall", "LLMErrorHandling", "SandboxAudit",
    "ToolErrorHandling", "DynamicContext", "SkillActivation", "Title", "Clarification",
]  # fmt: skip


def names(rows: Iterable[AnyRow]) -> list[str]:
    return [row.name for row in rows]


async def dispatched(document_: RunDocument) -> dict[Hook, list[str]]:
    """Which rows ran in which hook of a run with a tool call, in the order in which they were called."""
    seen: dict[Hook, list[str]] = {hook: [] for hook in Hook}

    def build(_: RunDocument, built: BuiltModel, checkpointer: Any, tools: Sequence[BaseTool]) -> Agent:
        rows = [watched(row, lambda hook, name: seen[hook].append(name)) for row in assemble(document_)]
        return create_agent(
            built.model,
            [*tools_for(document_.tools), *tools],
            middleware=[compose([*rows, ScriptCursor()], state_schema=RunnerState)],
            state_schema=RunnerState,
            context_schema=RunContext,
            checkpointer=checkpointer,
        )

    async with RunnerWorld() as world:
        invocation = Invocation(document_, world.ports(), api_key=None, checkpointer=None, build=build)
        async with invocation.session.hold():
            result = await invocation.run()
    assert result.answer == "done", result.outcome
    return seen


def test_the_rows_in_order() -> None:
    assert names(assemble(FULL)) == [
        "RunGate", "ToolOutputBudget", "ThreadData", "Uploads", "Sandbox", "DanglingToolCall", "LLMErrorHandling",
        "Guardrail", "SandboxAudit", "ToolErrorHandling", "DynamicContext", "SkillActivation", "Summarization", "TodoList",
        "TokenUsage", "Title", "Memory", "ViewImage",
        "DeferredToolFilter", "SubagentLimit", "LoopDetection", "Polite", "SafetyFinishReason", "Clarification",
    ]  # fmt: skip
    assert [spec.name for spec in rows_for(FULL)] == names(assemble(FULL))
    assert all(spec.why for spec in rows_for(FULL))


def test_what_no_profile_is_without() -> None:
    off = {
        key: {"enabled": False}
        for key in ("toolOutputBudget", "tokenUsage", "loopDetection", "safetyFinishReason")
    }
    assert names(assemble(document(pipeline=off))) == ALWAYS
    defaults = names(assemble(document()))
    assert [name for name in defaults if name not in ALWAYS] == [
        "ToolOutputBudget", "TokenUsage", "LoopDetection", "SafetyFinishReason",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "without", "reason"),
    [
        ("ToolOutputBudget", document(pipeline={"toolOutputBudget": {"enabled": False}}), "pipeline.toolOutputBudget.enabled"),
        ("Guardrail", document(), "guardrail"),
        ("Summarization", document(), "pipeline.summarization.enabled"),
        ("TodoList", document(), "pipeline.todoList.enabled"),
        ("TokenUsage", document(pipeline={"tokenUsage": {"enabled": False}}), "pipeline.tokenUsage.enabled"),
        ("LoopDetection", document(pipeline={"loopDetection": {"enabled": False}}), "pipeline.loopDetection.enabled"),
        ("Memory", document(), "pipeline.memory.enabled"),
        ("ViewImage", document(), "model.vision and pipeline.viewImage.enabled"),
        ("ViewImage", document(vision=True, pipeline={"viewImage": {"enabled": False}}), "model.vision and pipeline.viewImage.enabled"),
        ("DeferredToolFilter", document(), "deferred of any of mcpServers"),
        ("SubagentLimit", document(), "subagents.enabled"),
        ("SafetyFinishReason", document(pipeline={"safetyFinishReason": {"enabled": False}}), "pipeline.safetyFinishReason.enabled"),
    ],
)  # fmt: skip
def test_a_row_whose_condition_does_not_hold_is_left_out(
    name: str, without: RunDocument, reason: str
) -> None:
    (spec,) = [spec for spec in rows_for(without) if spec.name == name]
    assert spec.when(without) == Presence(present=False, reason=f"{reason} is false")
    assert spec.when(FULL) == Presence(present=True, reason=f"{reason} is true")
    assert name not in names(assemble(without))


@pytest.mark.parametrize(
    ("hook", "rows"),
    [
        (Hook.BEFORE_AGENT, ["ThreadData", "Uploads", "Sandbox", "DynamicContext", "TodoList", "ViewImage",
                            "LoopDetection", "Polite"]),
        (Hook.BEFORE_MODEL, ["RunGate", "Summarization", "TodoList", "ViewImage"]),
        (Hook.WRAP_MODEL_CALL, ["ToolOutputBudget", "DanglingToolCall", "LLMErrorHandling", "SkillActivation", "TodoList",
                                "ViewImage", "DeferredToolFilter", "LoopDetection", "Polite"]),
        (Hook.AFTER_MODEL, ["SafetyFinishReason", "LoopDetection", "SubagentLimit", "Title", "TokenUsage", "TodoList", "RunGate"]),
        (Hook.WRAP_TOOL_CALL, ["RunGate", "ToolOutputBudget", "Sandbox", "Guardrail", "SandboxAudit", "ToolErrorHandling", "DeferredToolFilter", "Clarification"]),
        (Hook.AFTER_AGENT, ["LoopDetection", "ViewImage", "Memory", "Title", "TodoList", "Guardrail", "Sandbox", "RunGate"]),
    ],
)  # fmt: skip
async def test_who_runs_in_which_hook_and_in_which_order(hook: Hook, rows: list[str]) -> None:
    seen = await dispatched(FULL)
    assert list(dict.fromkeys(seen[hook])) == rows


def test_what_subagents_get() -> None:
    assert names(assemble(FULL, subagent=True)) == [
        "RunGate", "ToolOutputBudget", "ThreadData", "Sandbox", "DanglingToolCall", "LLMErrorHandling",
        "Guardrail", "SandboxAudit", "ToolErrorHandling", "TokenUsage", "DeferredToolFilter", "LoopDetection", "SafetyFinishReason",
    ]  # fmt: skip


def custom(present: bool = True) -> RowSpec:
    return RowSpec(
        "Custom",
        "the user wants it",
        lambda _: Polite("x"),
        lambda _: Presence(present, "set in the profile"),
    )


def test_a_user_s_row_before_the_first_is_an_error_that_names_both() -> None:
    with pytest.raises(
        PipelineError, match="RunGate and Polite stand in the wrong order: limits are checked"
    ):
        assemble(document(), rows=[custom(), *ROWS])


def test_a_user_s_row_behind_the_last_is_an_error_that_names_both() -> None:
    with pytest.raises(PipelineError, match="SafetyFinishReason and Polite stand in the wrong order"):
        assemble(document(), rows=[*ROWS, custom()])
    assert "Polite" not in names(assemble(document(), rows=[*ROWS, custom(present=False)]))


@pytest.mark.parametrize("invariant", INVARIANTS, ids=lambda invariant: f"{invariant.row} {invariant.why}")
def test_every_invariant_bites(invariant: Invariant) -> None:
    order = [row.name for row in ROWS]
    assert invariant.row in order
    order.remove(invariant.row)
    order.insert(0, invariant.row)
    if isinstance(invariant, First):
        order.reverse()
    with pytest.raises(PipelineError, match=invariant.row):
        check_order(order, [invariant])
    check_order([row.name for row in ROWS], [invariant])
    check_order([], [invariant])


SCRIPT = """
steps:
- toolCalls: [{name: bash, args: {command: one}, id: c1}]
- toolCalls: [{name: bash, args: {command: two}, id: c2}, {name: read_file, args: {path: nowhere}, id: c3}]
- toolCalls: [{name: bash, args: {command: 5}, id: c4}]
- say: ''
- say: done
- purpose: summary
  say: It went well so far.
- purpose: summary
  say: It still goes well.
"""


def everything(script: str) -> RunDocument:
    return document(
        script,
        vision=True,
        pipeline={
            "summarization": {"enabled": True, "trigger": [{"messages": 6}], "keep": {"messages": 3}},
            "todoList": {"enabled": True},
            "custom": [{"path": "skerry_testing.customrows:Polite", "settings": {"word": "please"}}],
        },
    )


def apart(document_: RunDocument, built: BuiltModel, checkpointer: Any, _servers: Any = ()) -> Agent:
    return create_agent(
        built.model,
        tools_for(document_.tools),
        system_prompt=document_.system_prompt,
        middleware=[*assemble(document_), ScriptCursor()],
        state_schema=RunnerState,
        context_schema=RunContext,
        checkpointer=checkpointer,
    )


async def played(build: AgentBuilder) -> dict[str, Any]:
    saver = memory_saver()
    async with RunnerWorld() as world:
        invocation = Invocation(
            everything(SCRIPT), world.ports(), api_key=None, checkpointer=saver, build=build
        )
        async with invocation.session.hold():
            result = await invocation.run()
        await world.journal.flush()
        (kept,) = [item async for item in saver.alist(None, limit=1)]
        values = kept.checkpoint["channel_values"]
        types = [event["type"] for event in world.sink.events()]
        return {
            "result": result,
            "reports": world.reporter.calls,
            "counters": world.reporter.counters,
            # Two calls of one message run side by side: whose record comes first is chance.
            "journal": [kind for kind in types if kind != "audit.command"],
            "audits": types.count("audit.command"),
            "messages": [(m.type, m.text, m.name, sorted(m.additional_kwargs)) for m in values["messages"]],
            **{key: values[key] for key in ("limits", "script", "sandbox")},
        }


async def test_the_real_rows_do_the_same_apart() -> None:
    fused, separate = await played(build_agent), await played(apart)
    assert fused == separate
    assert fused["result"].answer == "done"
    assert fused["journal"].count("tool.result") == 4
    assert fused["audits"] == 3
    assert fused["journal"].count("summary") == 2
    assert [name for _, _, name, _ in fused["messages"]].count("summary") == 1
