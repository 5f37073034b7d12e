"""Streamable HTTP: from the runner to a server's endpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx2
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from typing_extensions import override

from skerry_api.mcp import McpServer

__all__ = ["MESSAGE_MAX", "BodyTooLarge", "CappedTransport", "LastStatus", "open_http"]

MESSAGE_MAX = 16 * 1024 * 1024
"""Largest message of a server, in bytes."""
CONNECT_SECONDS = 10.0
SPARE_SECONDS = 30.0


class BodyTooLarge(httpx2.TransportError):
    """A server sent more than one message may have."""


class _CappedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, limit: int) -> None:
        self._inner = inner
        self._left = limit

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._inner:
            self._left -= len(part)
            if self._left < 0:
                raise BodyTooLarge(f"the server sent a message of more than {MESSAGE_MAX} bytes")
            yield part

    @override
    async def aclose(self) -> None:
        await self._inner.aclose()


class LastStatus:
    """The newest answer's HTTP status, if it was a refusal: the SDK tells no statuses."""

    def __init__(self) -> None:
        self.code: int | None = None

    @override
    def __str__(self) -> str:
        return f"it answered HTTP {self.code}" if self.code else ""


class CappedTransport(httpx2.AsyncHTTPTransport):
    """Bounds bodies that are one message. Event streams may go on for ever; the SDK bounds each event."""

    def __init__(self, status: LastStatus) -> None:
        super().__init__()
        self._status = status

    @override
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        self._status.code = response.status_code if response.is_error else None
        kind = response.headers.get("content-type", "").lower()
        if not kind.startswith("text/event-stream") and isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _CappedStream(response.stream, MESSAGE_MAX)
        return response


@asynccontextmanager
async def open_http(
    server: McpServer, headers: Mapping[str, str], status: LastStatus
) -> AsyncIterator[TransportStreams]:
    """The streams of a connection; its end ends the server's session.

    Raises:
        httpx2.TransportError, inside the streams' task group.
    """
    assert server.url is not None  # noqa: S101 - the API's rule
    timeout = httpx2.Timeout(CONNECT_SECONDS, read=server.call_timeout_seconds + SPARE_SECONDS)
    # A bomb of compressed zeros would pass the cap.
    plain = {"Accept-Encoding": "identity", **headers}
    async with (
        httpx2.AsyncClient(headers=plain, timeout=timeout, transport=CappedTransport(status)) as client,
        streamable_http_client(server.url, http_client=client, max_sse_event_size=MESSAGE_MAX) as streams,
    ):
        yield streams
