"""Refusals of the API server as exceptions that a test can look into."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx

__all__ = ["ApiError", "Cause", "raise_for_status"]


@dataclass(frozen=True)
class Cause:
    """One field's fault, as in `details.causes` of a Status."""

    field: str
    reason: str
    message: str


_NO_FIELD = "<nil>"


class ApiError(Exception):
    """The server said no. `code` is HTTP's, `reason` the Status's (`Invalid`, `Conflict`, …)."""

    def __init__(self, code: int, reason: str, message: str, causes: tuple[Cause, ...] = ()) -> None:
        super().__init__(f"{code} {reason}: {message}")
        self.code = code
        self.reason = reason
        self.message = message
        self.causes = causes

    @property
    def passing(self) -> bool:
        """Whether asking anew may help: the server starts or is busy, or a watch asked for too old a version."""
        return self.code in {410, 429} or self.code >= 500

    @property
    def fields(self) -> set[str]:
        """Paths at fault; without the remark that rules were not looked at since the object doesn't fit."""
        return {cause.field for cause in self.causes} - {_NO_FIELD}


def _cause(raw: dict[str, Any]) -> Cause:
    return Cause(raw.get("field", ""), raw.get("reason", ""), raw.get("message", ""))


def raise_for_status(response: httpx.Response) -> None:
    """Raises ApiError unless the answer is 2xx."""
    if response.is_success:
        return
    try:
        status = response.json()
    except ValueError:
        raise ApiError(response.status_code, "", response.text) from None
    causes = tuple(_cause(raw) for raw in (status.get("details") or {}).get("causes") or ())
    raise ApiError(response.status_code, status.get("reason", ""), status.get("message", ""), causes)
