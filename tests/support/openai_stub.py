"""A stand-in for an OpenAI-compatible server: chat completions, streamed or whole, with tool calls and every way to fail.

It plays a list of replies, one per request, or, without one, calls the first offered tool it knows and then answers
with what came back. Standard library alone, so that any Python image can run it. By hand:
`python openai_stub.py --bind ADDRESS:PORT [--replies FILE.json | --scenario NAME] [--then-improvise]`.
A JSON object instead of a list holds a list for each model's name; other models' requests are improvised.
`GET /requests` shows the bodies of the requests so far.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import struct
import sys
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Self

from openai_stub_replies import SCENARIOS, Json, Reply, improvised, stream_events, unpaired, whole

__all__ = ["Reply", "Stub", "served"]

ANY = "*"
RST = struct.pack("ii", 1, 0)
"""SO_LINGER on, for no time: closing resets the connection."""


class _Reset(Exception):
    """The connection is to be reset now."""


@dataclass
class Stub:
    """`requests` holds the body of each request, in order; `keys` what stood in their Authorization headers.

    `async with` serves on loopback in this event loop; `served` does so in a thread.
    """

    replies: Iterable[Reply] | Mapping[str, Iterable[Reply]] | None = None
    then_improvise: bool = False
    requests: list[Json] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    url: str = ""

    def __post_init__(self) -> None:
        given = self.replies if isinstance(self.replies, Mapping) else {ANY: self.replies or ()}
        self._replies = {} if self.replies is None else {model: self._each(of) for model, of in given.items()}
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    @staticmethod
    def _each(replies: Iterable[Reply]) -> Iterator[Reply]:
        return (reply for reply in replies for _ in range(reply.times))

    async def listen(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self._server = await asyncio.start_server(self._connection, host, port)
        name = self._server.sockets[0].getsockname()
        self.url = f"http://{name[0]}:{name[1]}/v1"

    async def close(self) -> None:
        """Stop; answers under way are given up."""
        if self._server is not None:
            self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def __aenter__(self) -> Self:
        await self.listen()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task: asyncio.Task[None] | None = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            await self._answer(reader, writer)
        except _Reset:
            connection: socket.socket = writer.get_extra_info("socket")
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RST)
            writer.transport.abort()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.transport.abort()
        finally:
            self._open.discard(task)
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        raw = await reader.readexactly(int(headers.get("content-length", "0")))
        match first.split(" ")[:2]:
            case ["POST", "/v1/chat/completions"]:
                await self._complete(headers, json.loads(raw), writer)
            case ["GET", "/v1/models"]:
                await _send_json(writer, 200, {"object": "list", "data": [{"id": "stub", "object": "model"}]})
            case ["GET", "/requests"]:
                await _send_json(writer, 200, {"requests": self.requests, "keys": self.keys})
            case ["GET", "/healthz"]:
                await _send_json(writer, 200, {})
            case _:
                await _send_json(
                    writer, 404, {"error": {"message": "not found", "type": "stub", "code": None}}
                )

    async def _complete(self, headers: dict[str, str], body: Json, writer: asyncio.StreamWriter) -> None:
        self.requests.append(body)
        self.keys.append(headers.get("authorization", "").removeprefix("Bearer "))
        if (fault := unpaired(body["messages"])) is not None:
            # As the real one does, so that every test that gets this far has proved it.
            await _send_json(writer, 400, {"error": {"message": fault, "type": "invalid_request_error"}})
            return
        reply, number = self._next(body), len(self.requests)
        await asyncio.sleep(reply.delay_seconds)
        if reply.reset_after == 0:
            raise _Reset
        if reply.status != 200:
            await _send_json(writer, reply.status, reply.error_body(), reply.error_headers())
        elif body.get("stream"):
            await self._stream(reply, number, body, writer)
        else:
            if reply.stall_after is not None:
                await asyncio.Event().wait()
            await _send_json(writer, 200, whole(reply, number, body))

    def _next(self, body: Json) -> Reply:
        replies = self._replies.get(body.get("model", ""), self._replies.get(ANY))
        if replies is None:
            return improvised(body)
        if (reply := next(replies, None)) is not None:
            return reply
        return (
            improvised(body) if self.then_improvise else Reply(status=500, error="the stub has no reply left")
        )

    async def _stream(self, reply: Reply, number: int, body: Json, writer: asyncio.StreamWriter) -> None:
        await _send(writer, _head(200, {"content-type": "text/event-stream", "transfer-encoding": "chunked"}))
        for sent, data in enumerate(stream_events(reply, number, body)):
            if sent == reply.reset_after:
                raise _Reset
            if sent == reply.stall_after:
                await asyncio.Event().wait()
            if sent == reply.error_after:
                data = json.dumps(reply.error_body())  # noqa: PLW2901 - this event instead of that one
            await asyncio.sleep(reply.chunk_delay_seconds)
            await _send(writer, _chunk(f"data: {data}\n\n"))
            if sent == reply.error_after:
                break
        await _send(writer, b"0\r\n\r\n")


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} {_phrase(status)}\r\n{lines}connection: close\r\n\r\n".encode("latin-1")


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Stub"


def _chunk(text: str) -> bytes:
    raw = text.encode()
    return f"{len(raw):x}\r\n".encode() + raw + b"\r\n"


async def _send(writer: asyncio.StreamWriter, raw: bytes) -> None:
    writer.write(raw)
    await writer.drain()


async def _send_json(
    writer: asyncio.StreamWriter, status: int, body: Json, headers: dict[str, str] | None = None
) -> None:
    raw = json.dumps(body).encode()
    named = {"content-type": "application/json", "content-length": str(len(raw)), **(headers or {})}
    await _send(writer, _head(status, named) + raw)


@contextmanager
def served(stub: Stub) -> Iterator[str]:
    """Serve on loopback in a thread of its own; yields the base URL."""
    ready, loop = threading.Event(), asyncio.new_event_loop()

    async def serve() -> None:
        await stub.listen()
        loop.call_soon(ready.set)

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(serve())
        loop.run_forever()

    thread = threading.Thread(target=run)
    thread.start()
    ready.wait()
    try:
        yield stub.url
    finally:
        asyncio.run_coroutine_threadsafe(stub.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _serve_for_good(stub: Stub, host: str, port: int) -> None:
    await stub.listen(host, port)
    print(f"serving {stub.url}", flush=True)  # noqa: T201 - whoever started it by hand wants to know
    await asyncio.Event().wait()


def _read_all(replies: list[Json]) -> list[Reply]:
    return [Reply.read(raw) for raw in replies]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bind", default="127.0.0.1:8000", metavar="ADDRESS:PORT")
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--replies",
        type=Path,
        help="JSON list of replies, or one for each model; without it the stub improvises",
    )
    which.add_argument("--scenario", choices=sorted(SCENARIOS), help="a list of replies with a name")
    parser.add_argument("--then-improvise", action="store_true", help="when the list is at its end")
    options = parser.parse_args()
    host, _, port = options.bind.rpartition(":")
    replies: Iterable[Reply] | Mapping[str, Iterable[Reply]] | None = SCENARIOS.get(options.scenario or "")
    if options.replies:
        raw = json.loads(options.replies.read_text(encoding="utf-8"))
        replies = (
            _read_all(raw) if isinstance(raw, list) else {model: _read_all(of) for model, of in raw.items()}
        )
    asyncio.run(_serve_for_good(Stub(replies, then_improvise=options.then_improvise), host, int(port)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
