"""Counters of a run: what this process has seen, laid over what graph state kept from earlier epochs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from skerry_api.report import (
    ARTIFACTS_MAX,
    TITLE_MAX,
    TODO_MAX,
    TODOS_MAX,
    Progress,
    RunArtifact,
    TodoProgress,
    TodoStatus,
    Tokens,
    Usage,
)

if TYPE_CHECKING:
    from skerry_api.agentprofile import ModelPrice
    from skerry_runner.state import Artifact, RunLimits, TodoItem

__all__ = ["PICO_PER_MICRO", "Counts", "Tally", "cost_of", "counts_of", "shown_artifacts", "shown_todos"]

PICO_PER_MICRO = 1_000_000
"""Cost is added up in millionths of a micro-dollar: tokens times their price for a million, with nothing to round."""


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
    subagents: int = 0
    """Tokens of subagents; part of `total`."""
    cost: int = 0
    """In pico-dollars."""
    priced: bool = False
    """Whether `cost` means anything."""
    tool_calls: int = 0
    title: str | None = None
    todos: tuple[TodoProgress, ...] | None = None
    """The list as status shows it."""
    artifacts: tuple[RunArtifact, ...] | None = None
    """What was presented, as status shows it."""

    def usage(self) -> Usage:
        return Usage(
            input=self.input,
            output=self.output,
            total=self.total,
            subagents=self.subagents,
            internal=self.internal,
            cost_micro_usd=-(-self.cost // PICO_PER_MICRO) if self.priced else None,
        )

    def progress(self) -> Progress:
        return Progress(
            turn=self.turns,
            model_calls=self.model_calls,
            tool_calls=self.tool_calls,
            title=self.title,
            todos=self.todos,
        )


def counts_of(limits: RunLimits) -> Counts:
    """What graph state kept of a run."""
    return Counts(
        turns=limits.get("turns", 0),
        model_calls=limits.get("model_calls", 0),
        input=limits.get("input", 0),
        output=limits.get("output", 0),
        total=limits.get("total", 0),
        internal=limits.get("internal", 0),
        subagents=limits.get("subagents", 0),
        cost=limits.get("cost", 0),
    )


_SHOWN = {
    "pending": TodoStatus.PENDING,
    "in_progress": TodoStatus.IN_PROGRESS,
    "completed": TodoStatus.COMPLETED,
}


def shown_todos(
    todos: Sequence[TodoItem], redact: Callable[[str], str] = str
) -> tuple[TodoProgress, ...] | None:
    """A list of todos as status may hold it: redacted, bounded, None without any."""
    shown = (
        TodoProgress(content=redact(todo["content"])[:TODO_MAX], status=_SHOWN[todo["status"]])
        for todo in todos[:TODOS_MAX]
    )
    return tuple(shown) or None


def cost_of(used: Tokens, price: ModelPrice | None) -> int:
    """What these tokens cost, in pico-dollars."""
    if price is None:
        return 0
    return used.input * price.input_micro_usd_per_million + used.output * price.output_micro_usd_per_million


def shown_artifacts(artifacts: Iterable[Artifact], run: str) -> tuple[RunArtifact, ...] | None:
    """The newest of a run's artifacts as status may hold them, None without any."""
    shown = [
        RunArtifact(
            path=artifact["path"],
            size=artifact["size"],
            media_type=artifact["type"],
            sha256=artifact["sha256"],
            available=artifact["kept"],
        )
        for artifact in artifacts
        if artifact["run"] == run
    ]
    return tuple(shown[-ARTIFACTS_MAX:]) or None


class Tally:
    """Mutable counters of one process; every change is told to `on_change`.

    A subagent has a tally of its own, a `child`: what it uses is the run's use too, its turns are its own.
    """

    def __init__(
        self,
        on_change: Callable[[Counts], None],
        price: ModelPrice | None = None,
        *,
        parent: Tally | None = None,
        redact: Callable[[str], str] = str,
    ) -> None:
        """`redact` is for texts that are cut here."""
        self.counts = Counts(priced=price is not None)
        self._on_change = on_change
        self._price = price
        self._parent = parent
        self._redact = redact
        self._children: dict[str, Tally] = {}

    @property
    def whole(self) -> Counts:
        """Counters of the whole run, which limits are about."""
        return self.counts if self._parent is None else self._parent.whole

    def child(self, execution: str) -> Tally:
        """The tally of a subagent's execution. Calls are told apart by EXECUTION_KEY in their metadata."""
        made = self._children[execution] = Tally(
            lambda _: None, self._price, parent=self, redact=self._redact
        )
        return made

    def of(self, execution: str | None) -> Tally:
        """The tally of whoever makes a call: a child's, if there is one of this execution."""
        return self._children.get(execution, self) if execution is not None else self

    def has_child(self, execution: str) -> bool:
        """Whether this process has counted for that execution."""
        return execution in self._children

    def seed(self, kept: Counts) -> None:
        """Start from what graph state kept of earlier epochs."""
        self._set(replace(kept, priced=self.counts.priced))

    def restore(self, kept: Counts) -> None:
        """A subagent goes on in a new process: what it had used by then is its own again, and the run's."""
        if self._parent is not None:
            self._parent.absorb(kept)
        self._set(replace(kept, priced=self.counts.priced))

    def absorb(self, used: Counts) -> None:
        """Count what a subagent used in an earlier epoch, of which nothing is known here but its own record."""
        now = self.counts
        self._set(
            replace(
                now,
                model_calls=now.model_calls + used.model_calls,
                input=now.input + used.input,
                output=now.output + used.output,
                total=now.total + used.total,
                subagents=now.subagents + used.total,
                cost=now.cost
                + cost_of(Tokens(input=used.input, output=used.output, total=used.total), self._price),
            )
        )

    def turn(self, turns: int) -> None:
        """The graph is in this turn."""
        self._set(replace(self.counts, turns=turns))

    def model_call(self) -> None:
        if self._parent is not None:
            self._parent.model_call()
        self._set(replace(self.counts, model_calls=self.counts.model_calls + 1))

    def tokens(self, used: Tokens, *, internal: bool = False, subagent: bool = False) -> None:
        """Count what a call took; `internal`: nobody's turn (title, summary, memory)."""
        if self._parent is not None:
            self._parent.tokens(used, internal=internal, subagent=not internal)
        now = self.counts
        self._set(
            replace(
                now,
                input=now.input + used.input,
                output=now.output + used.output,
                total=now.total + used.total,
                internal=now.internal + (used.total if internal else 0),
                subagents=now.subagents + (used.total if subagent else 0),
                cost=now.cost + cost_of(used, self._price),
            )
        )

    def tool_call(self) -> None:
        if self._parent is not None:
            self._parent.tool_call()
        self._set(replace(self.counts, tool_calls=self.counts.tool_calls + 1))

    def plan(self, todos: Sequence[TodoItem]) -> None:
        """The agent's list is this now."""
        shown = shown_todos(todos, self._redact)
        if shown != self.counts.todos:
            self._set(replace(self.counts, todos=shown))

    def present(self, artifacts: Sequence[Artifact]) -> None:
        """The agent presented these; a path that was presented before has new facts."""
        newer = {each.path: each for each in shown_artifacts(artifacts, artifacts[0]["run"]) or ()}
        known = {each.path: each for each in self.counts.artifacts or ()}
        self._set(replace(self.counts, artifacts=tuple((known | newer).values())[-ARTIFACTS_MAX:]))

    def title(self, title: str | None) -> None:
        """The thread's title is this now."""
        self._set(replace(self.counts, title=self._redact(title)[:TITLE_MAX] if title else None))

    def _set(self, counts: Counts) -> None:
        if counts != self.counts:
            self.counts = counts
            self._on_change(counts)
