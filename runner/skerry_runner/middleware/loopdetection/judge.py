"""Counts and limits: what a message's calls mean for the run. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from skerry_api.rows.loopdetection import LoopDetectionSettings
from skerry_runner.middleware.loopdetection.actions import action_of
from skerry_runner.state import LoopCounts
from skerry_runner.toolcalls import Declared

__all__ = ["Finding", "Layer", "Verdict", "judged"]


class Layer(StrEnum):
    ACTION = "action"
    """The same calls again."""
    TOOL = "tool"
    """Many calls of one tool, whatever with."""


@dataclass(frozen=True)
class Finding:
    """A limit that is reached. `tools` are names; of layer tool there is one."""

    layer: Layer
    tools: tuple[str, ...]
    count: int
    limit: int
    hard: bool


@dataclass(frozen=True)
class Verdict:
    """The run's counters with this message in them, and what they say."""

    counts: LoopCounts
    findings: tuple[Finding, ...]

    @property
    def stops(self) -> tuple[Finding, ...]:
        return tuple(found for found in self.findings if found.hard)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return tuple(found for found in self.findings if not found.hard)


def judged(counts: LoopCounts, calls: Sequence[Declared], settings: LoopDetectionSettings) -> Verdict:
    """Count a message's calls. A warning comes once: for an action until it has left the window, for a tool in a run."""
    action, names = action_of(calls), [call.name or "unknown_tool" for call in calls]
    actions = [*counts.get("actions", ()), action][-settings.window :]
    tools = dict(counts.get("tools", {}))
    for name in names:
        tools[name] = tools.get(name, 0) + 1
    warned = [key for key in counts.get("warned", ()) if key in actions]
    warned_tools = list(counts.get("warned_tools", ()))
    findings: list[Finding] = []
    times = actions.count(action)
    if times >= settings.hard:
        findings.append(Finding(Layer.ACTION, tuple(dict.fromkeys(names)), times, settings.hard, hard=True))
    elif times >= settings.warn and action not in warned:
        warned.append(action)
        findings.append(Finding(Layer.ACTION, tuple(dict.fromkeys(names)), times, settings.warn, hard=False))
    for name in dict.fromkeys(names):
        warn, hard = settings.tool_limits(name)
        if tools[name] >= hard:
            findings.append(Finding(Layer.TOOL, (name,), tools[name], hard, hard=True))
        elif tools[name] >= warn and name not in warned_tools:
            warned_tools.append(name)
            findings.append(Finding(Layer.TOOL, (name,), tools[name], warn, hard=False))
    made = LoopCounts(actions=actions, tools=tools, warned=warned, warned_tools=warned_tools)
    return Verdict(made, tuple(findings))
