"""The pipeline as one table: which row, when it is there, and why it stands where it stands.

Registration order is the contract: `before_*` run from first to last, `after_*` from last to first, `wrap_*` nest
with the first outermost. What must hold of the order is data too, checked at assembly for user rows as well.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents.middleware.types import AgentMiddleware

from skerry_api.document import RunDocument
from skerry_runner.compose.rows import PipelineError
from skerry_runner.middleware.rungate import RunGate
from skerry_runner.middleware.sandbox import Sandbox
from skerry_runner.middleware.threaddata import ThreadData
from skerry_runner.middleware.toolerrors import ToolErrorHandling

__all__ = [
    "INVARIANTS",
    "ROWS",
    "After",
    "First",
    "Invariant",
    "Presence",
    "RowSpec",
    "assemble",
    "check_order",
]

AnyRow = AgentMiddleware[Any, Any, Any]


@dataclass(frozen=True)
class Presence:
    """Whether a row is assembled, and the reason for people."""

    present: bool
    reason: str


@dataclass(frozen=True)
class RowSpec:
    """One row of the table. `subagents`: whether subagents get it too."""

    name: str
    why: str
    build: Callable[[RunDocument], AnyRow]
    when: Callable[[RunDocument], Presence]
    subagents: bool = True


def _always(_document: RunDocument) -> Presence:
    return Presence(present=True, reason="always on")


ROWS: tuple[RowSpec, ...] = (
    RowSpec(
        "RunGate",
        "First: a call over the limit must cost no other row's work; outermost, so that the record shows the result "
        "that the model gets.",
        lambda _: RunGate(),
        _always,
    ),
    RowSpec(
        "ThreadData",
        "Before every row that works with the thread's files: it refuses ids that must not become paths.",
        lambda _: ThreadData(),
        _always,
    ),
    RowSpec(
        "Sandbox",
        "After ThreadData, whose ids name the sandbox; outside ToolErrorHandling, so that a sandbox that a failing "
        "tool acquired is committed all the same.",
        lambda _: Sandbox(),
        _always,
    ),
    RowSpec(
        "ToolErrorHandling",
        "Last of the base rows: all of them see results, none sees a tool's exception.",
        lambda _: ToolErrorHandling(),
        _always,
    ),
)


@dataclass(frozen=True)
class First:
    """The row comes before all others."""

    row: str
    why: str

    def broken_by(self, names: Sequence[str]) -> str | None:
        """The row that stands in the way, if any."""
        return names[0] if self.row in names and names[0] != self.row else None


@dataclass(frozen=True)
class After:
    """If both are there, `row` comes after `other`."""

    row: str
    other: str
    why: str

    def broken_by(self, names: Sequence[str]) -> str | None:
        """`other`, if it comes too late."""
        if self.row in names and self.other in names and names.index(self.row) < names.index(self.other):
            return self.other
        return None


Invariant = First | After

INVARIANTS: tuple[Invariant, ...] = (
    First("RunGate", "limits are checked before any work is done"),
    After("Sandbox", "ThreadData", "ids are checked before they name a sandbox"),
    After("ToolErrorHandling", "Sandbox", "a failing tool's sandbox is committed"),
)


def check_order(names: Sequence[str], invariants: Sequence[Invariant] = INVARIANTS) -> None:
    """Check an order of row names.

    Raises:
        PipelineError: an invariant is broken; names the two rows and the reason.
    """
    for invariant in invariants:
        if other := invariant.broken_by(names):
            raise PipelineError(f"{invariant.row} and {other} stand in the wrong order: {invariant.why}")


def assemble(
    document: RunDocument,
    *,
    rows: Sequence[RowSpec] = ROWS,
    invariants: Sequence[Invariant] = INVARIANTS,
) -> list[AnyRow]:
    """The rows of the lead agent's pipeline.

    Raises:
        PipelineError: an invariant is broken.
    """
    present = [row for row in rows if row.when(document).present]
    check_order([row.name for row in present], invariants)
    return [row.build(document) for row in present]
