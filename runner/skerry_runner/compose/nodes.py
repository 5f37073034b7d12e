"""Fused node hooks: one graph step that runs the rows' hooks in turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware.types import JumpTo
from langgraph.channels.base import BaseChannel

from skerry_runner.compose.reducers import Fold
from skerry_runner.compose.rows import Hook, NodeHook, OnFault, Row, RowFault, jumps_of, node_hook

__all__ = ["FusedNode"]


@dataclass(frozen=True)
class _Step:
    row: str
    call: NodeHook
    jumps: frozenset[JumpTo]


class FusedNode:
    """The hooks of one kind, in the order in which they run (`after_*`: last row first)."""

    def __init__(self, hook: Hook, rows: Sequence[Row], on_fault: OnFault) -> None:
        ordered = list(rows) if hook in {Hook.BEFORE_AGENT, Hook.BEFORE_MODEL} else list(reversed(rows))
        self._hook = hook
        self._on_fault = on_fault
        self._steps = [_Step(row.name, node_hook(row, hook), jumps_of(row, hook)) for row in ordered]
        self.can_jump_to: list[JumpTo] = sorted({jump for step in self._steps for jump in step.jumps})

    async def __call__(
        self, channels: Mapping[str, BaseChannel[Any, Any, Any]], state: Mapping[str, Any], runtime: Any
    ) -> dict[str, Any] | None:
        """Run the rows; the first jump stops the chain, as a jump between separate nodes would."""
        fold = Fold(channels, state)
        for step in self._steps:
            update = await step.call(fold.state, runtime)
            if not update:
                continue
            jump = update.get("jump_to")
            if jump is not None and jump not in step.jumps:
                # LangChain ignores an undeclared jump without a word.
                self._on_fault(
                    runtime.context,
                    RowFault(step.row, self._hook, "UndeclaredJump", f"jump to {jump} ignored"),
                )
                update = {key: value for key, value in update.items() if key != "jump_to"}
                jump = None
            fold.add(update)
            if jump is not None:
                break
        return fold.result()
