"""RunPort over HTTPS with the Pod's own token. One client, a timeout on every call, no proxy in between."""

from __future__ import annotations

import json
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Self

import httpx
from typing_extensions import override

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.base import API_VERSION, GROUP, VERSION
from skerry_runner.cluster.port import (
    ApiConflict,
    ApiError,
    ApiExpired,
    ApiForbidden,
    ApiNotFound,
    ApiRejected,
    ApiUnauthorized,
    ApiUnavailable,
    EventType,
    Json,
    RunEvent,
    RunPort,
)

__all__ = ["FIELD_MANAGER", "HttpRunPort", "api_error", "read_profile"]

FIELD_MANAGER = "skerry-runner"
CALL_TIMEOUT = httpx.Timeout(15, connect=5)
# The server sends a bookmark about every minute: a stream silent for longer is dead.
WATCH_TIMEOUT = httpx.Timeout(90, connect=5)
WATCH_SECONDS = 300
_BY_STATUS: dict[int, type[ApiError]] = {
    401: ApiUnauthorized, 403: ApiForbidden, 404: ApiNotFound, 409: ApiConflict, 410: ApiExpired, 429: ApiUnavailable,
}  # fmt: skip
_EVENTS = {
    "ADDED": EventType.CHANGED, "MODIFIED": EventType.CHANGED, "DELETED": EventType.DELETED, "BOOKMARK": EventType.BOOKMARK,
}  # fmt: skip


def api_error(status: int, message: str) -> ApiError:
    """The error of an answer."""
    kind = _BY_STATUS.get(status) or (ApiUnavailable if status >= 500 else ApiRejected)
    # The server answers an apply of a field that its schema lacks with 500; that never gets better.
    if status == 500 and "field not declared in schema" in message:
        kind = ApiRejected
    # A policy's no comes as 422 unless its author chose otherwise, and may turn into a yes like any 403.
    if "ValidatingAdmissionPolicy" in message and "denied request" in message:
        kind = ApiForbidden
    return kind(f"{status}: {message}" if message else str(status))


def _message(body: bytes) -> str:
    try:
        raw = json.loads(body)
    except ValueError:
        return body[:200].decode(errors="replace").strip()
    return str(raw.get("message", "")) if isinstance(raw, dict) else ""


class _TokenFile(httpx.Auth):
    """Bearer token from a projected file, read for each request since the kubelet renews it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @override
    def auth_flow(self, request: httpx.Request) -> Any:
        try:
            token = self._path.read_text().strip()
        except OSError as error:
            raise ApiUnavailable(f"token {self._path}: {error}") from error
        request.headers["Authorization"] = f"Bearer {token}"
        yield request


def _client(server: str, service_account: Path) -> httpx.AsyncClient:
    """Raises OSError or ssl.SSLError when the CA bundle cannot be used."""
    verify: ssl.SSLContext | bool = True
    if server.startswith("https:"):
        verify = ssl.create_default_context(cafile=str(service_account / "ca.crt"))
    return httpx.AsyncClient(
        base_url=server,
        verify=verify,
        auth=_TokenFile(service_account / "token"),
        timeout=CALL_TIMEOUT,
        trust_env=False,
        headers={"Accept": "application/json", "User-Agent": FIELD_MANAGER},
    )


async def read_profile(server: str, service_account: Path, namespace: str, name: str) -> Json:
    """An AgentProfile as it stands, in one call.

    Raises:
        ApiError: it could not be read.
        OSError, ssl.SSLError: the CA bundle cannot be used.
    """
    path = f"/apis/{GROUP}/{VERSION}/namespaces/{namespace}/{AgentProfile.PLURAL}/{name}"
    async with _client(server, service_account) as client:
        return _object((await _request(client, "GET", path)).content)


async def _request(client: httpx.AsyncClient, method: str, path: str, **options: Any) -> httpx.Response:
    try:
        answer = await client.request(method, path, **options)
    except httpx.HTTPError as error:
        raise ApiUnavailable(_words(error)) from error
    if answer.status_code != 200:
        raise api_error(answer.status_code, _message(answer.content))
    return answer


class HttpRunPort(RunPort):
    """One run of one API server. Use as an async context manager."""

    def __init__(self, server: str, service_account: Path, namespace: str, name: str) -> None:
        """Raises OSError or ssl.SSLError when the CA bundle cannot be used."""
        self._namespace, self._name = namespace, name
        self._runs = f"/apis/{GROUP}/{VERSION}/namespaces/{namespace}/{AgentRun.PLURAL}"
        self._client = _client(server, service_account)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    @override
    async def get(self) -> Json:
        answer = await _request(self._client, "GET", f"{self._runs}/{self._name}")
        return _object(answer.content)

    @override
    async def watch(self, resource_version: str) -> AsyncIterator[RunEvent]:
        query = {
            "watch": "true",
            "fieldSelector": f"metadata.name={self._name}",
            "resourceVersion": resource_version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(WATCH_SECONDS),
        }
        try:
            async with self._client.stream("GET", self._runs, params=query, timeout=WATCH_TIMEOUT) as answer:
                if answer.status_code != 200:
                    raise api_error(answer.status_code, _message(await answer.aread()))
                async for line in answer.aiter_lines():
                    if line:
                        yield _event(line)
        except httpx.HTTPError as error:
            raise ApiUnavailable(_words(error)) from error

    @override
    async def apply_status(self, status: Json) -> None:
        body = {
            "apiVersion": API_VERSION,
            "kind": AgentRun.KIND,
            "metadata": {"name": self._name, "namespace": self._namespace},
            "status": status,
        }
        await _request(
            self._client,
            "PATCH",
            f"{self._runs}/{self._name}/status",
            params={"fieldManager": FIELD_MANAGER, "force": "true"},
            headers={"Content-Type": "application/apply-patch+yaml"},
            content=json.dumps(body, ensure_ascii=False).encode(),
        )


def _words(error: httpx.HTTPError) -> str:
    return f"{type(error).__name__}: {error}"


def _object(text: str | bytes) -> Json:
    """A JSON object; anything else says nothing about the run (some proxy may have answered)."""
    try:
        raw = json.loads(text)
    except ValueError as error:
        raise ApiUnavailable("an answer that is not JSON") from error
    if not isinstance(raw, dict):
        raise ApiUnavailable("an answer that is no object")
    return raw


def _event(line: str) -> RunEvent:
    raw = _object(line)
    kind, thing = raw.get("type"), raw.get("object")
    if not isinstance(kind, str) or not isinstance(thing, dict):
        raise ApiUnavailable("a watch event that cannot be read")
    if kind == "ERROR":
        raise api_error(int(thing.get("code", 500)), str(thing.get("message", "")))
    return RunEvent(_EVENTS.get(kind, EventType.BOOKMARK), thing)
