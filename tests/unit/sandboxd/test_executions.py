"""Executions over the wire of a real sandboxd: keys, attaching, killing, limits, bad requests."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import httpx
import pytest

from skerry_api.sandboxd_events import ExitEvent, GapEvent, LostEvent, OutputEvent, StartedEvent
from skerry_sandboxd.proctree import read_proc
from skerry_testing.conformance import alive
from skerry_testing.eventually import eventually, eventually_true
from skerry_testing.ndjson import end_of, events_of, execute, follow, output_of
from skerry_testing.sandboxd import Sandboxd, running_sandboxd


async def test_events_of_a_command(local: httpx.AsyncClient) -> None:
    started, output, end = await execute(local, "events", "echo hi")
    assert isinstance(started, StartedEvent)
    assert (started.key, started.pid > 0) == ("events", True)
    assert output == OutputEvent(type="stdout", offset=0, data="hi\n")
    assert isinstance(end, ExitEvent)
    assert (end.code, end.signal, end.truncated) == (0, None, False)


async def test_stdin(local: httpx.AsyncClient) -> None:
    text = await execute(local, "stdin-1", "wc -c", stdin={"data": "x" * 200_000})
    assert output_of(text).strip() == b"200000"
    binary = await execute(local, "stdin-2", "od -An -tx1", stdin={"data": "/wA=", "encoding": "base64"})
    assert output_of(binary).strip() == b"ff 00"


async def test_a_lost_connection_kills_nothing_and_attach_resumes(
    sandboxd: Sandboxd, local: httpx.AsyncClient
) -> None:
    (sandboxd.workspace / "go").unlink(missing_ok=True)
    command = "printf one; until [ -e go ]; do sleep 0.01; done; printf two"
    async with local.stream("POST", "/v1/executions", json={"key": "lost", "command": command}) as response:
        async for event in follow(response):
            if isinstance(event, OutputEvent):
                break
    # The connection is closed now; the command waits for us.
    assert (await local.get("/v1/idle")).json()["activeExecutions"] == 1
    async with local.stream("GET", "/v1/executions/lost?after=3") as response:
        (sandboxd.workspace / "go").touch()
        rest = [event async for event in follow(response)]
    assert output_of(rest) == b"two"
    assert end_of(rest) == ExitEvent(code=0, duration_ms=rest[-1].duration_ms)  # type: ignore[union-attr]  # compared
    again = events_of((await local.get("/v1/executions/lost")).content)
    assert output_of(again) == b"onetwo"


async def test_the_same_key_replays(local: httpx.AsyncClient) -> None:
    first = await execute(local, "replay", "date +%N; exit 7")
    assert await execute(local, "replay", "date +%N; exit 7") == first


@pytest.mark.parametrize(
    "change",
    [
        {"command": "echo 2"},
        {"cwd": "/"},
        {"env": {"A": "1"}},
        {"timeoutSeconds": 5},
        {"stdin": {"data": "x"}},
    ],
)
async def test_the_same_key_with_other_content(local: httpx.AsyncClient, change: dict[str, Any]) -> None:
    await execute(local, "content", "echo 1")
    response = await local.post("/v1/executions", json={"key": "content", "command": "echo 1"} | change)
    assert (response.status_code, response.json()["reason"]) == (409, "KeyConflict")


async def test_delete_kills_the_tree(sandboxd: Sandboxd, local: httpx.AsyncClient) -> None:
    pids = sandboxd.workspace / "tree"
    pids.unlink(missing_ok=True)
    command = "(setsid setsid sh -c 'echo $$ >> tree; exec sleep 600' &); echo $$ >> tree; sleep 600"
    running = asyncio.create_task(execute(local, "tree", command))
    await eventually(lambda: pids.exists() and len(pids.read_text().split()) == 2)
    response = await local.delete("/v1/executions/tree?graceSeconds=0")
    assert response.json()["killed"] is True
    assert end_of(await running) == ExitEvent(
        signal="SIGKILL", killed=True, duration_ms=response.json()["durationMs"]
    )
    assert not any(alive(int(pid)) for pid in pids.read_text().split())


async def test_delete_ends_what_an_ended_command_left(sandboxd: Sandboxd, local: httpx.AsyncClient) -> None:
    events = await execute(local, "left", "setsid sleep 600 & echo $!")
    pid = int(output_of(events))
    assert alive(pid)
    response = await local.delete("/v1/executions/left?graceSeconds=0")
    assert response.json()["killed"] is False
    assert not alive(pid)


async def test_a_tree_that_runs_away_is_ended(local: httpx.AsyncClient) -> None:
    # One process at a time, always a new one; 5,000 hops at most, so it can never hurt the machine.
    command = "hop() { [ $1 -gt 5000 ] || hop $(($1 + 1)) & }; hop 0; sleep 600"
    events = await execute(local, "runaway", command, timeoutSeconds=1)
    assert isinstance(end := end_of(events), ExitEvent)
    assert end.timed_out
    left = await execute(local, "runaway-left", "ps -eo args | grep -c '[h]op() {' || true")
    assert output_of(left).strip() == b"0"


async def test_unknown_keys(local: httpx.AsyncClient) -> None:
    for call in (local.get("/v1/executions/none"), local.delete("/v1/executions/none")):
        response = await call
        assert (response.status_code, response.json()["reason"]) == (404, "NotFound")


BAD: dict[str, tuple[Any, str]] = {
    "no object": ([], ""),
    "missing command": ({"key": "a"}, "command"),
    "misspelt": ({"key": "a", "command": "x", "timeout": 5}, "timeout"),
    "empty key": ({"key": "", "command": "x"}, "key"),
    "slash in key": ({"key": "a/b", "command": "x"}, "key"),
    "nul in command": ({"key": "a", "command": "x\0"}, "command"),
    "negative timeout": ({"key": "a", "command": "x", "timeoutSeconds": -1}, "timeoutSeconds"),
    "endless timeout": ({"key": "a", "command": "x", "timeoutSeconds": 1e9}, "timeoutSeconds"),
    "huge cap": ({"key": "a", "command": "x", "maxOutputBytes": 10**9}, "maxOutputBytes"),
    "odd variable": ({"key": "a", "command": "x", "env": {"A-B": "1"}}, "env.A-B.[key]"),
    "number as value": ({"key": "a", "command": "x", "env": {"A": 1}}, "env.A"),
    "encoding": ({"key": "a", "command": "x", "stdin": {"data": "", "encoding": "hex"}}, "stdin.encoding"),
    "broken base64": ({"key": "a", "command": "x", "stdin": {"data": "?", "encoding": "base64"}}, "stdin"),
}


@pytest.mark.parametrize(("body", "field"), BAD.values(), ids=BAD.keys())
async def test_bad_requests_name_the_field(local: httpx.AsyncClient, body: Any, field: str) -> None:
    response = await local.post("/v1/executions", json=body)
    assert (response.status_code, response.json()["reason"]) == (400, "InvalidRequest")
    assert response.json().get("field", "") == field


async def test_what_is_not_json(local: httpx.AsyncClient) -> None:
    response = await local.post("/v1/executions", content=b"{nonsense")
    assert (response.status_code, response.json()["reason"]) == (400, "InvalidRequest")


async def test_bodies_are_bounded(local: httpx.AsyncClient) -> None:
    response = await local.post("/v1/executions", content=b" " * (5 * 1024 * 1024))
    assert (response.status_code, response.json()["reason"]) == (413, "TooLarge")


@pytest.mark.parametrize("query", ["after=x", "after=-1", "after=99999999999999999999"])
async def test_bad_parameters(local: httpx.AsyncClient, query: str) -> None:
    response = await local.get(f"/v1/executions/a?{query}")
    assert (response.status_code, response.json()["field"]) == (400, "after")


async def test_only_so_many_run_at_once(tmp_path: Path) -> None:
    async with running_sandboxd(tmp_path) as sandboxd, sandboxd.local() as local:
        waiting = "until [ -e go ]; do sleep 0.05; done"
        running = [asyncio.create_task(execute(local, f"k{n}", waiting)) for n in range(16)]

        async def full() -> bool:
            return bool((await local.get("/v1/idle")).json()["activeExecutions"] == 16)

        await eventually_true(full)
        refused = await local.post("/v1/executions", json={"key": "more", "command": "true"})
        assert (refused.status_code, refused.json()["reason"]) == (429, "Busy")
        assert refused.headers["Retry-After"] == "1"
        (sandboxd.workspace / "go").touch()
        assert {end_of(events).type for events in await asyncio.gather(*running)} == {"exit"}
        assert end_of(await execute(local, "more", "true")).type == "exit"


async def test_memory_stays_bounded(tmp_path: Path) -> None:
    async with running_sandboxd(tmp_path) as sandboxd, sandboxd.local() as local:

        def rss() -> int:
            status = Path(f"/proc/{sandboxd.process.pid}/status").read_text()
            return int(status.split("VmRSS:")[1].split()[0])

        await execute(local, "warm", "true")
        before = rss()
        for n in range(25):
            # The biggest cap; 25 of them would be 100 MiB.
            events = await execute(local, f"k{n}", "yes | head -c 6000000", maxOutputBytes=4 * 1024 * 1024)
            assert isinstance(end := end_of(events), ExitEvent)
            assert end.truncated
        assert rss() - before < 75 * 1024
        oldest = events_of((await local.get("/v1/executions/k0")).content)
        assert sum(e.dropped_bytes for e in oldest if isinstance(e, GapEvent)) == 6_000_000
        assert end_of(oldest).type == "exit"


async def test_a_forgotten_key_still_never_runs_twice(tmp_path: Path) -> None:
    async with running_sandboxd(tmp_path) as sandboxd, sandboxd.local() as local:
        await execute(local, "once", "echo x >> count; echo out")
        for n in range(130):
            await execute(local, f"k{n}", "true")
        again = await execute(local, "once", "echo x >> count; echo out")
        assert (output_of(again), end_of(again).type) == (b"", "exit")
        assert (sandboxd.workspace / "count").read_text() == "x\n"


async def test_keys_outlive_a_restart(tmp_path: Path) -> None:
    async with running_sandboxd(tmp_path) as sandboxd, sandboxd.local() as local:
        await execute(local, "done", "echo x >> done; exit 4")
        running = asyncio.create_task(
            local.post("/v1/executions", json={"key": "cut", "command": "echo > cut; sleep 600"})
        )
        await eventually((sandboxd.workspace / "cut").exists)
        sandboxd.process.kill()
        with pytest.raises(httpx.TransportError):
            await running
    async with running_sandboxd(tmp_path) as sandboxd, sandboxd.local() as local:
        done = end_of(await execute(local, "done", "echo x >> done; exit 4"))
        assert isinstance(done, ExitEvent)
        assert done.code == 4
        assert (sandboxd.workspace / "done").read_text() == "x\n"
        (sandboxd.workspace / "cut").unlink()
        lost = end_of(await execute(local, "cut", "echo > cut; sleep 600"))
        assert isinstance(lost, LostEvent)
        assert not (sandboxd.workspace / "cut").exists()


async def test_a_killed_supervisor_is_told_as_lost(sandboxd: Sandboxd, local: httpx.AsyncClient) -> None:
    pid = sandboxd.workspace / "killer"
    pid.unlink(missing_ok=True)
    # What code of our own uid can do to us.
    events = await execute(local, "killer", "echo $$ > killer; kill -9 $PPID; exec sleep 600")
    assert isinstance(end_of(events), LostEvent)
    await eventually(lambda: not alive(int(pid.read_text())))
    assert output_of(await execute(local, "killer-2", "echo fine")) == b"fine\n"


async def test_a_killed_spawner_is_replaced(sandboxd: Sandboxd, local: httpx.AsyncClient) -> None:
    (sandboxd.workspace / "go").unlink(missing_ok=True)
    running = asyncio.create_task(
        execute(local, "before", "touch up; until [ -e go ]; do sleep 0.01; done; echo end")
    )
    await eventually((sandboxd.workspace / "up").exists)
    (spawner,) = [proc.pid for proc in read_proc().values() if proc.ppid == sandboxd.process.pid]
    os.kill(spawner, signal.SIGKILL)
    assert output_of(await execute(local, "after", "echo fine")) == b"fine\n"
    (sandboxd.workspace / "go").touch()
    assert output_of(await running) == b"end\n"


async def test_a_slow_reader_holds_nobody_up(sandboxd: Sandboxd, local: httpx.AsyncClient) -> None:
    body = {
        "key": "slow",
        "command": "yes | head -c 3000000; echo > slow-done",
        "maxOutputBytes": 4 * 1024 * 1024,
    }
    async with local.stream("POST", "/v1/executions", json=body) as response:
        # Nothing is read; the command ends all the same.
        await eventually((sandboxd.workspace / "slow-done").exists)
        events = [event async for event in follow(response)]
    assert len(output_of(events)) == 3_000_000
