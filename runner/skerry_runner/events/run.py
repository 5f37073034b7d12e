"""Events of a run as a whole: its ends, its script, its middlewares."""

from __future__ import annotations

from typing import ClassVar

from skerry_api.phases import StopReason
from skerry_api.report import Outcome, Progress, Usage
from skerry_runner.events.base import Event, Part

__all__ = ["PipelineFault", "RunEnd", "RunStart", "ScriptUnused", "UnusedStep"]


class RunStart(Event):
    """The epoch begins."""

    TYPE: ClassVar[str] = "run.start"
    namespace: str
    name: str
    profile: str
    model: str
    tools: tuple[str, ...]
    sandbox_id: str
    prompt_chars: int


class UnusedStep(Part):
    """`step` counts from 0, `line` from 1."""

    step: int
    line: int
    agent: str | None = None
    purpose: str | None = None


class ScriptUnused(Event):
    """Steps of the script that were never played."""

    TYPE: ClassVar[str] = "script.unused"
    steps: tuple[UnusedStep, ...]


class PipelineFault(Event):
    """A middleware misbehaved, and the run went on."""

    TYPE: ClassVar[str] = "pipeline.fault"
    row: str
    hook: str
    error: str
    message: str
    tool_call_id: str | None = None


class RunEnd(Event):
    """The epoch ends: its last line. One that is killed has none."""

    TYPE: ClassVar[str] = "run.end"
    outcome: Outcome
    stop_reason: StopReason | None = None
    usage: Usage
    progress: Progress
    answer_chars: int = 0
