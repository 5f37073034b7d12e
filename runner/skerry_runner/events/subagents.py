"""Events of subagents."""

from __future__ import annotations

from typing import ClassVar

from skerry_api.report import Tokens
from skerry_runner.events.base import Event
from skerry_runner.events.model import Call

__all__ = ["SubagentEnd", "SubagentStart", "SubagentStep"]


class SubagentStart(Event):
    """A piece of work is handed to a subagent, who acts as the line's `agent`; `id` names this execution, `call` is the lead's."""

    TYPE: ClassVar[str] = "subagent.start"
    id: str
    call: str
    description: str = ""
    prompt: str
    chars: int
    """Of the prompt."""
    tools: tuple[str, ...]
    max_turns: int
    max_tokens: int
    timeout_seconds: int


class SubagentStep(Event):
    """A subagent's model has answered: `step` counts from 1, `message` is the answer's id."""

    TYPE: ClassVar[str] = "subagent.step"
    id: str
    step: int
    message: str | None
    chars: int
    tool_calls: tuple[Call, ...] = ()


class SubagentEnd(Event):
    """A subagent is done: `status` completed, failed, timed_out or cancelled. Exactly one for a start."""

    TYPE: ClassVar[str] = "subagent.end"
    id: str
    call: str
    status: str
    reason: str
    error: str | None = None
    steps: int
    chars: int
    """Of the result."""
    usage: Tokens
