"""Events of calls of the model."""

from __future__ import annotations

from typing import ClassVar

from skerry_api.report import Tokens
from skerry_runner.events.base import Event, Part

__all__ = ["Call", "LlmCircuit", "LlmRetry", "MessageInfo", "ModelError", "ModelRequest", "ModelResponse"]


class MessageInfo(Part):
    """A message of a request, without its text."""

    id: str | None
    role: str
    name: str | None = None
    chars: int


class ModelRequest(Event):
    """What is sent to the model; once per attempt. `systemHash` is SHA-256 of the system prompt, in hex."""

    TYPE: ClassVar[str] = "model.request"
    request: str
    """Ties request, response and error together."""
    purpose: str | None = None
    """Of an internal call: title, summary or memory."""
    messages: tuple[MessageInfo, ...]
    system_hash: str
    tools: tuple[str, ...]


class Call(Part):
    id: str | None
    name: str | None


class ModelResponse(Event):
    """What came back."""

    TYPE: ClassVar[str] = "model.response"
    request: str
    id: str | None
    text: str
    chars: int
    tool_calls: tuple[Call, ...] = ()
    invalid_tool_calls: tuple[Call, ...] = ()
    finish_reason: str | None = None
    usage: Tokens


class ModelError(Event):
    """The call failed."""

    TYPE: ClassVar[str] = "model.error"
    request: str
    error: str
    message: str


class LlmRetry(Event):
    """A model call failed and is made again after a wait. `attempt` is the one that failed, from 1."""

    TYPE: ClassVar[str] = "llm.retry"
    endpoint: str
    attempt: int
    max_attempts: int
    wait_ms: int
    kind: str
    reason: str
    error: str
    message: str
    status: int | None = None


class LlmCircuit(Event):
    """An endpoint's circuit breaker changed its state: closed, open or half-open."""

    TYPE: ClassVar[str] = "llm.circuit"
    endpoint: str
    state: str
    failures: int
    """Calls in a row that failed."""
    open_seconds: float | None = None
    """How long it stays open; only with state open."""
