"""The live stream over real HTTP on the loopback address."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from skerry_runner.stream.buffer import EventBuffer
from skerry_runner.stream.server import LISTENERS_MAX, serve_stream

PATIENCE = 20


@asynccontextmanager
async def streaming(buffer: EventBuffer) -> AsyncIterator[httpx.AsyncClient]:
    async with asyncio.timeout(PATIENCE), serve_stream(buffer, 0) as port:
        url = f"http://127.0.0.1:{port}"
        try:
            async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=PATIENCE) as client:
                yield client
        finally:
            buffer.close()


def line(number: int) -> bytes:
    return json.dumps({"seq": number, "type": "x"}).encode() + b"\n"


async def read(client: httpx.AsyncClient, **headers: str) -> list[str]:
    answer = await client.get("/events", headers=headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/event-stream")
    return [part for part in answer.text.split("\n\n") if part]


async def test_lines_and_the_end() -> None:
    buffer = EventBuffer()
    buffer.write(line(1))
    async with streaming(buffer) as client:
        reading = asyncio.create_task(read(client))
        buffer.write(line(2))
        buffer.close()
        assert await reading == [
            ": skerry",
            'id: 1\ndata: {"seq": 1, "type": "x"}',
            'id: 2\ndata: {"seq": 2, "type": "x"}',
            "event: end\ndata: {}",
        ]


async def test_replay_goes_on_after_the_last_event_id() -> None:
    buffer = EventBuffer()
    for number in range(1, 6):
        buffer.write(line(number))
    buffer.close()
    async with streaming(buffer) as client:
        told = await read(client, **{"Last-Event-ID": "4"})
    assert told == [": skerry", 'id: 5\ndata: {"seq": 5, "type": "x"}', "event: end\ndata: {}"]


async def test_what_is_no_longer_kept_is_named() -> None:
    buffer = EventBuffer(kept_bytes=30)
    for number in range(1, 4):
        buffer.write(line(number))
    buffer.close()
    async with streaming(buffer) as client:
        told = await read(client)
    assert told[1] == 'event: lost\ndata: {"first": 1, "last": 2}'


@pytest.mark.parametrize("given", ["-1", "x", "1.5", "٣", "9" * 40])
async def test_a_bad_last_event_id_is_refused(given: str) -> None:
    buffer = EventBuffer()
    async with streaming(buffer) as client:
        answer = await client.get("/events", headers={b"Last-Event-ID": given.encode()})
    assert (answer.status_code, "Last-Event-ID" in answer.text) == (400, True)


async def test_one_listener_too_many_is_refused_and_a_place_comes_free() -> None:
    buffer = EventBuffer()
    buffer.write(line(1))
    async with streaming(buffer) as client:
        streams = [client.stream("GET", "/events") for _ in range(LISTENERS_MAX)]
        answers = [await each.__aenter__() for each in streams]
        for answer in answers:
            await anext(answer.aiter_lines())
        assert (await client.get("/events")).status_code == 503
        await streams[0].__aexit__(None, None, None)
        async with asyncio.timeout(PATIENCE):
            while True:
                async with client.stream("GET", "/events") as again:
                    if again.status_code == 200:
                        break
                buffer.write(line(2))  # a write is where a server learns that somebody left
        buffer.close()
        for each in streams[1:]:
            await each.__aexit__(None, None, None)


async def test_a_port_that_is_taken_costs_the_stream_alone() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        async with serve_stream(EventBuffer(), taken.getsockname()[1]) as port:
            assert port is None


async def test_only_loopback_listens() -> None:
    buffer = EventBuffer()
    async with serve_stream(buffer, 0) as port:
        assert port is not None
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.2", port)
        buffer.close()
