"""Long-running processes over the wire: standard input, output, backpressure, signals, end."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest

from skerry_api.sandboxd_events import ExitEvent, OutputEvent
from skerry_testing.conformance import alive
from skerry_testing.eventually import eventually_true
from skerry_testing.ndjson import end_of, events_of, follow, output_of
from skerry_testing.sandboxd import Sandboxd


async def start(local: httpx.AsyncClient, key: str, command: str, **fields: Any) -> dict[str, Any]:
    response = await local.post("/v1/processes", json={"key": key, "command": command} | fields)
    assert response.status_code == 201, response.text
    state: dict[str, Any] = response.json()
    return state


async def feed(local: httpx.AsyncClient, key: str, data: bytes, query: str = "") -> int:
    response = await local.post(f"/v1/processes/{key}/stdin?{query}", content=data)
    assert response.status_code == 200, response.text
    return int(response.json()["offset"])


async def test_a_conversation(local: httpx.AsyncClient) -> None:
    await start(local, "talk", 'while read -r line; do echo "got $line"; done; echo bye >&2; exit 3')
    async with local.stream("GET", "/v1/processes/talk/output") as response:
        events = follow(response)
        for text in (b"one", b"two"):
            await feed(local, "talk", text + b"\n")
            async for event in events:
                if isinstance(event, OutputEvent):
                    assert event.raw == b"got " + text + b"\n"
                    break
        await feed(local, "talk", b"", "eof=true")
        rest = [event async for event in events]
    assert output_of(rest) == b"bye\n"
    assert isinstance(end := end_of(rest), ExitEvent)
    assert end.code == 3
    state = (await local.get("/v1/processes/talk")).json()
    assert (state["running"], state["stdinOffset"], state["exit"]["code"]) == (False, 8, 3)


async def test_the_same_key_is_the_same_process(local: httpx.AsyncClient) -> None:
    first = await start(local, "same", "sleep 600")
    assert await start(local, "same", "sleep 600") == first
    other = await local.post("/v1/processes", json={"key": "same", "command": "sleep 601"})
    assert (other.status_code, other.json()["reason"]) == (409, "KeyConflict")
    await local.delete("/v1/processes/same?graceSeconds=0")


async def test_a_repeated_write_is_fed_once(local: httpx.AsyncClient) -> None:
    await start(local, "once", "cat")
    assert await feed(local, "once", b"hello ", "offset=0") == 6
    assert await feed(local, "once", b"hello ", "offset=0") == 6
    assert await feed(local, "once", b"hello world", "offset=0&eof=true") == 11
    gap = await local.post("/v1/processes/once/stdin?offset=50", content=b"x")
    assert (gap.status_code, gap.json()["reason"]) == (409, "OffsetConflict")
    events = events_of((await local.get("/v1/processes/once/output")).content)
    assert output_of(events) == b"hello world"
    closed = await local.post("/v1/processes/once/stdin", content=b"more")
    assert (closed.status_code, closed.json()["reason"]) == (409, "Ended")


async def test_much_input(local: httpx.AsyncClient) -> None:
    await start(local, "much", "sha256sum")
    assert await feed(local, "much", b"x" * 3_000_000, "eof=true") == 3_000_000
    events = events_of((await local.get("/v1/processes/much/output")).content)
    assert output_of(events).startswith(b"e55b8bdf621ddaa8")


async def test_unread_output_waits_and_none_is_lost(sandboxd: Sandboxd, local: httpx.AsyncClient) -> None:
    state = await start(local, "back", "seq 1000000; touch back-done", bufferBytes=65536)
    # It can't get rid of 6.9 MB while nobody reads.
    await eventually_true(lambda: _sleeping_in_pipe(state["pid"]))
    assert not (sandboxd.workspace / "back-done").exists()
    async with local.stream("GET", "/v1/processes/back/output") as response:
        events = [event async for event in follow(response)]
    assert output_of(events) == b"".join(b"%d\n" % n for n in range(1, 1_000_001))
    assert (sandboxd.workspace / "back-done").exists()


async def _sleeping_in_pipe(pid: int) -> bool:
    children = (await asyncio.to_thread(_read, f"/proc/{pid}/task/{pid}/children")).split()
    waits = [await asyncio.to_thread(_read, f"/proc/{each}/wchan") for each in (str(pid), *children)]
    return any("pipe" in wait for wait in waits)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:  # noqa: PTH123  # /proc
        return file.read()


async def test_resuming_at_an_offset(local: httpx.AsyncClient) -> None:
    await start(local, "resume", "printf 0123456789; cat")
    async with local.stream("GET", "/v1/processes/resume/output") as response:
        async for event in follow(response):
            if isinstance(event, OutputEvent):
                break
    await feed(local, "resume", b"abc", "eof=true")
    events = events_of((await local.get("/v1/processes/resume/output?after=8")).content)
    assert output_of(events) == b"89abc"


async def test_signals(local: httpx.AsyncClient) -> None:
    await start(local, "sig", "trap 'echo usr1; exit 5' USR1; echo up; while :; do sleep 0.05; done")
    async with local.stream("GET", "/v1/processes/sig/output") as response:
        events = follow(response)
        async for event in events:
            if isinstance(event, OutputEvent):
                break
        sent = await local.post("/v1/processes/sig/signal", json={"signal": "SIGUSR1"})
        assert sent.status_code == 200
        rest = [event async for event in events]
    # Bash itself may remark that its own child got the signal too.
    assert output_of(rest).endswith(b"usr1\n")
    late = await local.post("/v1/processes/sig/signal", json={"signal": "SIGTERM"})
    assert (late.status_code, late.json()["reason"]) == (409, "Ended")
    bad = await local.post("/v1/processes/sig/signal", json={"signal": "SIGWHAT"})
    assert (bad.status_code, bad.json()["field"]) == (400, "signal")


async def test_delete_ends_the_tree(local: httpx.AsyncClient) -> None:
    await start(local, "tree", "setsid sleep 600 & echo $!; wait")
    async with local.stream("GET", "/v1/processes/tree/output") as response:
        printed = await anext(event async for event in follow(response) if isinstance(event, OutputEvent))
    pid = int(printed.raw)
    assert alive(pid)
    state = (await local.delete("/v1/processes/tree?graceSeconds=0")).json()
    assert (state["running"], state["exit"]["killed"]) == (False, True)
    assert not alive(pid)


@pytest.mark.parametrize("call", [("GET", ""), ("DELETE", ""), ("GET", "/output"), ("POST", "/stdin")])
async def test_unknown_keys(local: httpx.AsyncClient, call: tuple[str, str]) -> None:
    response = await local.request(call[0], f"/v1/processes/none{call[1]}")
    assert (response.status_code, response.json()["reason"]) == (404, "NotFound")


async def test_a_bad_directory_leaves_no_process(local: httpx.AsyncClient) -> None:
    response = await local.post("/v1/processes", json={"key": "cwd", "command": "true", "cwd": "/nowhere"})
    assert (response.status_code, response.json()["field"]) == (400, "cwd")
    assert (await local.get("/v1/processes/cwd")).status_code == 404
