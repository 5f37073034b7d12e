"""The runner's small need of the API server: read, watch and report on one run. Nothing else is asked of it.

Errors form one tree, made once at the edge. The distinction that matters is whether trying again can help.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

__all__ = [
    "ApiConflict", "ApiError", "ApiExpired", "ApiForbidden", "ApiNotFound", "ApiRejected", "ApiUnauthorized",
    "ApiUnavailable", "EventType", "RunEvent", "RunPort",
]  # fmt: skip

Json = dict[str, Any]


class ApiError(Exception):
    """An answer that is not the one asked for, or none."""


class ApiUnavailable(ApiError):
    """No answer, or one that says nothing about the request: connection lost, timeout, 401, 429, 5xx."""


class ApiUnauthorized(ApiUnavailable):
    """401: our token is not known now. It may just have been renewed on disk, or its ServiceAccount is gone."""


class ApiConflict(ApiError):
    """409: somebody wrote at the same moment."""


class ApiForbidden(ApiError):
    """403: RBAC or the admission policy says no."""


class ApiNotFound(ApiError):
    """404: the run does not exist."""


class ApiExpired(ApiError):
    """410: the server no longer knows the resourceVersion that a watch wants to go on from."""


class ApiRejected(ApiError):
    """The request can never succeed as it is: 4xx, or a field that the server's schema lacks."""


class EventType(StrEnum):
    CHANGED = "Changed"
    DELETED = "Deleted"
    BOOKMARK = "Bookmark"


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One event of a watch; `object` is raw, of a bookmark only its resourceVersion is set."""

    type: EventType
    object: Json


class RunPort(Protocol):
    """The API server as seen by the runner of one run. Every method may raise any ApiError."""

    async def get(self) -> Json:
        """The run as it stands, raw."""
        ...

    def watch(self, resource_version: str) -> AsyncIterator[RunEvent]:
        """Events after `resource_version`; ends quietly when the server closes the stream."""
        ...

    async def apply_status(self, status: Json) -> None:
        """Server-side apply of `status` as this manager's whole set, with force."""
        ...
