"""Server-sent events of one run on the loopback address: replay by `Last-Event-ID`, heartbeats, an `end` at the end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route
from typing_extensions import override

from skerry_api.stream import STREAM_PATH, StreamEvent
from skerry_runner.stream.buffer import Beat, EventBuffer, Line, Lost, Piece

__all__ = ["BEAT_SECONDS", "LISTENERS_MAX", "serve_stream", "stream_app"]

BEAT_SECONDS = 15.0
LISTENERS_MAX = 16
_END_SECONDS = 5
"""How long listeners may take to read the last lines once the run has ended."""
log = logging.getLogger(__name__)


def stream_app(buffer: EventBuffer, *, beat: float = BEAT_SECONDS) -> Starlette:
    """GET /events; a bad `Last-Event-ID` is 400, one listener too many 503."""
    listeners = 0

    async def told(after: int) -> AsyncIterator[bytes]:
        nonlocal listeners
        listeners += 1
        try:
            yield b": skerry\n\n"  # headers go out with the first bytes
            async for piece in buffer.follow(after, beat):
                yield _wire(piece)
            yield _event(StreamEvent.END, b"{}")
        finally:
            listeners -= 1

    async def events(request: Request) -> Response:
        given = request.headers.get("last-event-id", "0")
        if not (given.isascii() and given.isdecimal() and len(given) < 16):
            return PlainTextResponse("Last-Event-ID: must be the seq of a line", status_code=400)
        if listeners >= LISTENERS_MAX:
            return PlainTextResponse(f"{LISTENERS_MAX} listen already", status_code=503)
        return StreamingResponse(
            told(int(given)), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )

    return Starlette(routes=[Route(STREAM_PATH, events, methods=["GET"])])


def _wire(piece: Piece) -> bytes:
    match piece:
        case Line(seq, text):
            return b"id: %d\ndata: %b\n\n" % (seq, text)
        case Lost(first, last):
            return _event(StreamEvent.LOST, json.dumps({"first": first, "last": last}).encode())
        case Beat():
            return b": beat\n\n"


def _event(name: StreamEvent, data: bytes) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode(), data)


class _Server(uvicorn.Server):
    """Signals are the runner's."""

    @contextlib.contextmanager
    @override
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serve_stream(buffer: EventBuffer, port: int) -> AsyncIterator[int | None]:
    """Serve on 127.0.0.1 (port 0: any free one) and give the port; None if that can't be: a run goes on unwatched.

    Close the buffer before leaving: listeners then get what is left.
    """
    try:
        listener = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        log.warning("no live stream: port %d: %s", port, error)
        yield None
        return
    config = uvicorn.Config(
        stream_app(buffer), http="h11", ws="none", lifespan="off", loop="asyncio", log_config=None,
        access_log=False, server_header=False, proxy_headers=False, timeout_graceful_shutdown=_END_SECONDS,
    )  # fmt: skip
    server = _Server(config)
    serving = asyncio.create_task(server.serve([listener]), name="stream")
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await asyncio.wait({serving}, timeout=_END_SECONDS + 2)
        listener.close()
