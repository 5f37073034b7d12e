"""The table: order, conditions, reasons, invariants. What the rows do in a run is test_chain.py's."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from skerry_api.document import RunDocument
from skerry_runner.compose.rows import PipelineError
from skerry_runner.invariants import INVARIANTS, First, Invariant, check_order
from skerry_runner.pipeline import ROWS, assemble, rows_for
from skerry_runner.rowspec import AnyRow, Presence, RowSpec
from skerry_testing.customrows import Polite
from skerry_testing.runnerworld import document

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
