"""Events of what stops or judges the agent."""

from __future__ import annotations

from typing import ClassVar

from skerry_runner.events.base import Event, Part

__all__ = [
    "AuditCommand",
    "GuardrailDecision",
    "LoopStop",
    "LoopWarning",
    "SafetyTermination",
    "SubagentCapped",
]


class SafetyTermination(Event):
    """A provider stopped an answer for safety. Names of calls that were suppressed, never their arguments."""

    TYPE: ClassVar[str] = "safety_termination"
    id: str | None
    adapter: str
    field: str
    value: str
    action: str
    """suppress_tool_calls, fill_blank or mark."""
    suppressed: tuple[str, ...] = ()


class _Loop(Part):
    """`layer` action: the same calls of `tools` came `count` times; tool: one tool was called `count` times in the run."""

    layer: str
    tools: tuple[str, ...]
    count: int
    limit: int


class LoopWarning(_Loop, Event):
    """The agent repeats itself and is told so with its next request."""

    TYPE: ClassVar[str] = "loop.warning"


class LoopStop(_Loop, Event):
    """The agent repeats itself, and its run is ended: the calls are not made."""

    TYPE: ClassVar[str] = "loop.stop"


class GuardrailDecision(Event):
    """A call was denied (`decision` deny), or a provider gave no decision (`error`) and failClosed let it pass (allow)."""

    TYPE: ClassVar[str] = "guardrail"
    id: str
    tool: str
    decision: str
    provider: str
    """lists, rules, http or path."""
    code: str | None = None
    reason: str | None = None
    error: str | None = None


class AuditCommand(Event):
    """A bash command was judged: `verdict` pass, warn or block, `rules` the ids of those that it breaks."""

    TYPE: ClassVar[str] = "audit.command"
    id: str
    command: str
    chars: int
    verdict: str
    rules: tuple[str, ...] = ()


class SubagentCapped(Event):
    """An answer wanted to hand on more work than it may: `cut` calls are not made, `left` more are possible in this run."""

    TYPE: ClassVar[str] = "subagent.capped"
    message: str | None
    cut: int
    left: int
    stopped: bool
    """Whether the run ends with it."""
