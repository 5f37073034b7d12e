"""What error steps raise. Shaped like a provider SDK's errors, so that whatever classifies those meets the same.

ModelError (LangChain)
└─ Scripted…   one for each family of HTTP status, with status_code, code, body and response.headers
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from langchain_core.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelError,
    ModelInvalidRequestError,
    ModelNotFoundError,
    ModelPermissionDeniedError,
    ModelRateLimitError,
    ModelTimeoutError,
)

from skerry_runner.models.scripted.schema import ErrorKind, ScriptError

__all__ = ["FaultResponse", "ScriptedFault", "fault_of"]


@dataclass(frozen=True)
class FaultResponse:
    """The part of an HTTP response that error handling reads."""

    status_code: int
    headers: Mapping[str, str] = field(default_factory=dict)


class ScriptedFault(ModelError):
    """An error of the scripted model; `retry_after` in seconds."""

    status_code: int | None = None
    code: str | None = None
    response: FaultResponse | None = None
    retry_after: float | None = None


class AuthenticationError(ScriptedFault, ModelAuthenticationError): ...


class PermissionDeniedError(ScriptedFault, ModelPermissionDeniedError): ...


class NotFoundError(ScriptedFault, ModelNotFoundError): ...


class RateLimitError(ScriptedFault, ModelRateLimitError):
    is_retryable = True


class InvalidRequestError(ScriptedFault, ModelInvalidRequestError): ...


class ServerError(ScriptedFault, ModelAPIError):
    is_retryable = True


class TimeoutFault(ScriptedFault, ModelTimeoutError, TimeoutError):
    is_retryable = True


class ConnectionFault(ScriptedFault, ModelConnectionError, ConnectionError):
    is_retryable = True


class ResetFault(ScriptedFault, ModelConnectionError, ConnectionResetError):
    is_retryable = True


_KINDS: dict[ErrorKind, tuple[type[ScriptedFault], str]] = {
    ErrorKind.TIMEOUT: (TimeoutFault, "the model did not answer in time"),
    ErrorKind.CONNECTION: (ConnectionFault, "the model can't be reached"),
    ErrorKind.RESET: (ResetFault, "the connection was reset"),
}
_STATUSES: dict[int, type[ScriptedFault]] = {
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    429: RateLimitError,
}


def fault_of(step: ScriptError) -> ScriptedFault:
    """The exception that an error step raises."""
    if step.kind is not None:
        kind, text = _KINDS[step.kind]
    else:
        status = step.status or 500
        kind = _STATUSES.get(status, ServerError if status >= 500 else InvalidRequestError)
        text = f"HTTP {status}"
    fault = kind(step.message or (f"{text}: {step.code}" if step.code else text))
    fault.code, fault.retry_after = step.code, step.retry_after_seconds
    if step.status is not None:
        headers = {} if step.retry_after_seconds is None else {"retry-after": f"{step.retry_after_seconds:g}"}
        fault.status_code, fault.response = step.status, FaultResponse(step.status, headers)
    return fault
