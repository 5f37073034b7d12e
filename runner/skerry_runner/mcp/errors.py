"""What can go wrong with a server, as texts for the model.

McpError
├── McpUnavailable   it can't be reached, or says nothing of use
└── McpCallFailed    a call came to nothing, or nobody knows what it came to
"""

from __future__ import annotations

from skerry_runner.tools.errors import ToolFailure

__all__ = ["McpCallFailed", "McpError", "McpUnavailable", "cause_of", "reason_of"]

REASON_MAX = 1000


class McpError(ToolFailure):
    """Base of both; the message is fit for the model to read."""


class McpUnavailable(McpError): ...


class McpCallFailed(McpError): ...


def cause_of(error: BaseException) -> BaseException:
    """The first error of a group, however deep: task groups wrap what one of their tasks raised."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return error


def reason_of(error: BaseException) -> str:
    """Its class and message, in a bounded line."""
    cause = cause_of(error)
    text = " ".join(str(cause).split())
    return f"{type(cause).__name__}: {text}"[:REASON_MAX] if text else type(cause).__name__
