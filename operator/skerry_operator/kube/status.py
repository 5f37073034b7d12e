"""An HTTP answer of the API server turned into one of our errors: pure, and the only place that knows the codes."""

from __future__ import annotations

import json
from typing import Any

from skerry_operator.errors import (
    AlreadyExists,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    KubeError,
    NotFound,
    Unknown,
)

__all__ = ["error_of"]

_MESSAGE_MAX = 2048
_BY_CODE: dict[int, type[KubeError]] = {
    400: Invalid,
    403: Forbidden,
    404: NotFound,
    405: Invalid,
    409: Conflict,
    410: Gone,
    413: Invalid,
    415: Invalid,
    422: Invalid,
}


def error_of(status: int, body: bytes, retry_after: str | None = None, *, where: str = "") -> KubeError:
    """The error for an answer with an HTTP status ≥300; `body` is the Status object, or whatever a proxy sent."""
    answer = _parse(body)
    message = str(answer.get("message") or f"HTTP {status}")[:_MESSAGE_MAX]
    found = _BY_CODE.get(status, Unknown)
    if found is Conflict and answer.get("reason") == "AlreadyExists":
        found = AlreadyExists
    if status == 500 and "field not declared in schema" in message:
        found = Invalid  # an apply of a field that older CRDs lack: no retry will help
    if found is Unknown:
        return Unknown(message, where=where, status=status, retry_after=_seconds(retry_after))
    return found(message, where=where, status=status)


def _parse(body: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(body)
    except ValueError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdecimal() else None
