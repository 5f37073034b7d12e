"""Counters of a run: what this process has seen, laid over what graph state kept from earlier epochs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from skerry_api.report import TODO_MAX, TODOS_MAX, Progress, TodoProgress, TodoStatus, Usage

if TYPE_CHECKING:
    from skerry_runner.state import TodoItem

__all__ = ["Counts", "Tally", "shown_todos"]


@dataclass(frozen=True)
class Counts:
    """Totals of a run over all its epochs, except `tool_calls`, which belong to the epoch."""

    turns: int = 0
    model_calls: int = 0
    input: int = 0
    output: int = 0
    total: int = 0
    internal: int = 0
    """Tokens of internal calls; part of `total`."""
    tool_calls: int = 0
    todos: tuple[TodoProgress, ...] | None = None
    """The list as status shows it."""

    def usage(self) -> Usage:
        return Usage(input=self.input, output=self.output, total=self.total)

    def progress(self) -> Progress:
        return Progress(
            turn=self.turns, model_calls=self.model_calls, tool_calls=self.tool_calls, todos=self.todos
        )


_SHOWN = {
    "pending": TodoStatus.PENDING,
    "in_progress": TodoStatus.IN_PROGRESS,
    "completed": TodoStatus.COMPLETED,
}


def shown_todos(todos: Sequence[TodoItem]) -> tuple[TodoProgress, ...] | None:
    """A list of todos as status may hold it: bounded, None without any."""
    shown = (
        TodoProgress(content=todo["content"][:TODO_MAX], status=_SHOWN[todo["status"]])
        for todo in todos[:TODOS_MAX]
    )
    return tuple(shown) or None


class Tally:
    """Mutable counters of one process; every change is told to `on_change`."""

    def __init__(self, on_change: Callable[[Counts], None]) -> None:
        self.counts = Counts()
        self._on_change = on_change

    def seed(self, kept: Counts) -> None:
        """Start from what graph state kept of earlier epochs."""
        self._set(kept)

    def turn(self, turns: int) -> None:
        """The graph is in this turn."""
        self._set(replace(self.counts, turns=turns))

    def model_call(self) -> None:
        self._set(replace(self.counts, model_calls=self.counts.model_calls + 1))

    def tokens(self, used: Usage, *, internal: bool = False) -> None:
        """Count what a call took; `internal`: nobody's turn (title, summary, memory)."""
        now = self.counts
        self._set(
            replace(
                now,
                input=now.input + used.input,
                output=now.output + used.output,
                total=now.total + used.total,
                internal=now.internal + (used.total if internal else 0),
            )
        )

    def tool_call(self) -> None:
        self._set(replace(self.counts, tool_calls=self.counts.tool_calls + 1))

    def plan(self, todos: Sequence[TodoItem]) -> None:
        """The agent's list is this now."""
        self._set(replace(self.counts, todos=shown_todos(todos)))

    def _set(self, counts: Counts) -> None:
        if counts != self.counts:
            self.counts = counts
            self._on_change(counts)
