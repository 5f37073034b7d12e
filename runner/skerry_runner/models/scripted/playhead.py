"""Which step comes next. The place belongs to (run, script) and is kept in graph state, so that a resume goes on."""

from __future__ import annotations

from dataclasses import dataclass

from skerry_runner.events import UnusedStep
from skerry_runner.models.scripted.parse import ParsedScript
from skerry_runner.models.scripted.patterns import search
from skerry_runner.models.scripted.schema import Purpose, Step
from skerry_runner.outcome import RunEnded, app_error

__all__ = ["LEAD", "Part", "Playhead", "ScriptMismatch"]


class ScriptMismatch(RunEnded):
    """The run is not what the script expects: AppError/ScriptMismatch."""

    def __init__(self, message: str) -> None:
        super().__init__(app_error("ScriptMismatch", message))


@dataclass(frozen=True)
class Part:
    """Who plays: the lead, one execution of a subagent (type and prompt), or an internal call."""

    agent: str | None = None
    prompt: str = ""
    purpose: Purpose | None = None
    execution: str = ""
    """Tells executions of one type apart: each plays from its first step."""

    def fits(self, step: Step) -> bool:
        """Whether a step is this part's."""
        if (step.agent, step.purpose) != (self.agent, self.purpose):
            return False
        try:
            return step.task is None or search(step.task, self.prompt) is not None
        except TimeoutError:
            return False


LEAD = Part()


class Playhead:
    """The places of all parts in one script, for one run. In memory; `seed` and `position` tie it to graph state."""

    def __init__(self, parsed: ParsedScript, run: str) -> None:
        self.parsed = parsed
        self.key = f"{run}/{parsed.digest[:16]}"
        self.run = run
        self._positions: dict[Part, int] = {}
        self._played: set[int] = set()

    def seed(self, part: Part, position: int) -> None:
        """Go on at least there: steps before it were played by an earlier process."""
        if position > self._positions.get(part, 0):
            self._positions[part] = position
            self._played.update(index for index, _ in self._sequence(part)[:position])

    def position(self, part: Part) -> int:
        """How many of its steps the part has played."""
        return self._positions.get(part, 0)

    def take(self, part: Part) -> tuple[int, Step] | None:
        """The next step and its index in the script; None when there is no more."""
        sequence, position = self._sequence(part), self.position(part)
        if position >= len(sequence):
            return None
        index, step = sequence[position]
        self._positions[part] = position + 1
        self._played.add(index)
        return index, step

    def has_next(self, part: Part) -> bool:
        """Whether `take` would give the part a step."""
        return self.position(part) < len(self._sequence(part))

    def where(self, index: int) -> str:
        """A step for people."""
        return f"{self.parsed.source}: line {self.parsed.lines[index]}: steps[{index}]"

    def unused(self) -> tuple[UnusedStep, ...]:
        """Steps that nobody has played."""
        return tuple(
            UnusedStep(step=index, line=self.parsed.lines[index], agent=step.agent, purpose=step.purpose)
            for index, step in enumerate(self.parsed.script.steps)
            if index not in self._played
        )

    def _sequence(self, part: Part) -> list[tuple[int, Step]]:
        return [(index, step) for index, step in enumerate(self.parsed.script.steps) if part.fits(step)]
