"""The process itself: start, signals, orphans, what code of the same user can see, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import sys
from pathlib import Path

import httpx
import pytest

from skerry_api.sandboxd_events import ExitEvent, LostEvent, OutputEvent
from skerry_sandboxd.proctree import read_proc
from skerry_testing.conformance import alive
from skerry_testing.eventually import eventually
from skerry_testing.ndjson import end_of, events_of, execute, follow, output_of
from skerry_testing.sandboxd import Sandboxd, running_sandboxd

# The person's own user as uid 10001 of a user namespace, without a capability: as in a Pod under restricted
# Pod Security, and needing no root.
_UNPRIVILEGED = ("unshare", "--user", "--map-user=10001", "--map-group=10001", "setpriv", "--no-new-privs")
_ROOT = () if os.geteuid() == 0 else ("--user", "--map-root-user")
_PID_1 = ("unshare", *_ROOT, "--pid", "--fork", "--mount-proc")


async def test_sigterm_ends_commands_first(tmp_path: Path) -> None:
    async with running_sandboxd(tmp_path) as sandboxd, sandboxd.local() as local:
        command = "trap 'echo cleaned; exit 9' TERM; echo $$ up; while :; do sleep 0.05; done"
        async with local.stream("POST", "/v1/executions", json={"key": "a", "command": command}) as response:
            events = follow(response)
            up = await anext(event async for event in events if isinstance(event, OutputEvent))
            sandboxd.process.terminate()
            rest = [event async for event in events]
        # It was told and had time to clean up; its caller's stream breaks off without an end.
        assert b"cleaned\n" in output_of(rest)
        assert not [event for event in rest if isinstance(event, ExitEvent | LostEvent)]
        assert await sandboxd.process.wait() == 0
        assert not alive(int(up.raw.split()[0]))
        assert not sandboxd.socket.exists()


async def test_nothing_outlives_a_kill_of_sandboxd(tmp_path: Path) -> None:
    async with running_sandboxd(tmp_path) as sandboxd, sandboxd.local() as local:
        events = await execute(local, "bg", "setsid sleep 600 & echo $!")
        pid = int(output_of(events))
        sandboxd.process.kill()
        await sandboxd.process.wait()
        await eventually(lambda: not alive(pid))


async def test_orphans_are_reaped(sandboxd: Sandboxd, local: httpx.AsyncClient) -> None:
    # The killed supervisor's children come to us; one of them ends as a zombie that somebody must collect.
    await execute(local, "orphans", "(sleep 0.2; exit 1) & kill -9 $PPID; sleep 600")

    def ours() -> list[str]:
        return [p.state for p in read_proc().values() if p.ppid == sandboxd.process.pid]

    await eventually(lambda: len(ours()) == 1 and "Z" not in ours())


async def test_no_zombies_after_many_commands(sandboxd: Sandboxd, local: httpx.AsyncClient) -> None:
    for n in range(20):
        await execute(local, f"z{n}", "(true &); true & exit 0")

    def zombies() -> list[int]:
        table = read_proc()
        family = {sandboxd.process.pid, *(p.pid for p in table.values() if p.ppid == sandboxd.process.pid)}
        return [p.pid for p in table.values() if p.state == "Z" and p.ppid in family]

    await eventually(lambda: not zombies())


async def test_memory_and_environment_are_closed(sandboxd: Sandboxd) -> None:
    pid = sandboxd.process.pid
    # Not dumpable: these belong to root, whoever runs it.
    (spawner,) = [p.pid for p in read_proc().values() if p.ppid == pid]
    for each in (pid, spawner):
        limits = await asyncio.to_thread(Path(f"/proc/{each}/limits").read_text)
        (core,) = [line.split() for line in limits.splitlines() if line.startswith("Max core file size")]
        assert core[4:6] == ["0", "0"]
    environment = await asyncio.to_thread(Path(f"/proc/{spawner}/environ").read_bytes)
    assert b"SKERRY_" not in environment


async def test_as_an_unprivileged_user(tmp_path: Path) -> None:
    async with running_sandboxd(tmp_path, prefix=_UNPRIVILEGED) as sandboxd, sandboxd.local() as local:
        probe = f"id -u; cat /proc/{sandboxd.process.pid}/environ || echo closed; env | grep -c SKERRY_; ls /proc/self/fd"
        events = await execute(local, "a", probe)
        assert output_of(events).split(b"\n")[0] == b"10001"
        assert b"closed" in output_of(events)
        assert b"SKERRY_OPERATOR_KEYS" not in output_of(events)
        memory = await execute(
            local,
            "b",
            f"head -c1 /proc/{sandboxd.process.pid}/mem; readlink /proc/{sandboxd.process.pid}/fd/1 || echo closed",
        )
        assert b"Permission denied" in output_of(memory)
        assert output_of(memory).endswith(b"closed\n")
        ended = await execute(local, "c", "(setsid setsid sleep 600 &); sleep 600", timeoutSeconds=0.5)
        assert isinstance(end := end_of(ended), ExitEvent)
        assert end.timed_out
        score = await execute(local, "d", "cat /proc/self/oom_score_adj")
        assert output_of(score) == b"900\n"


async def test_as_pid_1(tmp_path: Path) -> None:
    async with running_sandboxd(tmp_path, prefix=_PID_1) as sandboxd:
        async with sandboxd.local() as local:
            first = await execute(
                local, "a", "cat /proc/1/cmdline; kill -9 1; (setsid setsid sleep 600 &) ; echo; echo on"
            )
            assert b"skerry_sandboxd" in output_of(first)
            assert output_of(first).endswith(b"on\n")
            # An orphan of a killed supervisor becomes a child of PID 1, and does not stay a zombie.
            await execute(local, "b", "(sleep 0.2) & kill -9 $PPID; sleep 600")
            for n in range(100):
                states = await execute(local, f"z{n}", "ps -eo stat | grep -c Z || true")
                if output_of(states).strip() == b"0":
                    break
            else:
                pytest.fail("zombies stay")
        (inner,) = [p.pid for p in read_proc().values() if p.ppid == sandboxd.process.pid]
        os.kill(inner, 15)
        assert await sandboxd.process.wait() == 0


async def test_the_socket_is_private(sandboxd: Sandboxd) -> None:
    mode = await asyncio.to_thread(lambda: sandboxd.socket.stat().st_mode)
    assert stat.S_IMODE(mode) == 0o600
    assert stat.S_IMODE(sandboxd.socket.parent.stat().st_mode) == 0o700


async def test_bad_settings_are_named(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "skerry_sandboxd",
        env={"PATH": os.environ["PATH"]},
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    assert (process.returncode, errors) == (2, b"sandboxd: SKERRY_OPERATOR_KEYS: is not set\n")


async def test_idle(tmp_path: Path) -> None:
    async with running_sandboxd(tmp_path) as sandboxd, sandboxd.local() as local:

        async def ask() -> dict[str, object]:
            # The operator asks, as it does at a park's expiry.
            async with httpx.AsyncClient(base_url=sandboxd.base_url, trust_env=False) as tcp:
                headers = sandboxd.operator_signer().headers("GET", "/v1/idle")
                answer: dict[str, object] = (await tcp.get("/v1/idle", headers=headers)).json()
                return answer

        assert "lastUsedBy" not in await ask()
        running = asyncio.create_task(execute(local, "a", "touch up; until [ -e go ]; do sleep 0.02; done"))
        await eventually((sandboxd.workspace / "up").exists)
        await asyncio.sleep(0.1)
        busy = await ask()
        assert (busy["idleSeconds"], busy["activeExecutions"], busy["lastUsedBy"]) == (0, 1, "local")
        (sandboxd.workspace / "go").touch()
        await running
        first = await ask()
        second = await ask()
        assert first["activeExecutions"] == 0
        assert 0 < float(str(first["idleSeconds"])) < float(str(second["idleSeconds"]))


async def test_while_stopping_streams_break_off_and_nothing_is_taken(tmp_path: Path) -> None:
    async with running_sandboxd(tmp_path) as sandboxd, sandboxd.local() as local:
        # It ignores SIGTERM, so that stopping takes as long as the grace.
        waiting = asyncio.create_task(
            execute(local, "a", "trap '' TERM; touch up; while :; do sleep 0.05; done")
        )
        await eventually((sandboxd.workspace / "up").exists)
        sandboxd.process.terminate()
        async with sandboxd.local() as other:
            answer = await other.get("/health")
            while answer.status_code == 200:
                answer = await other.get("/health")
            assert (answer.status_code, answer.json()["status"]) == (503, "stopping")
            refused = await other.post("/v1/executions", json={"key": "b", "command": "true"})
            assert (refused.status_code, refused.json()["reason"]) == (503, "ShuttingDown")
        # No end: an exit by the sandbox's own signal would pass for the command's answer.
        assert not [event for event in await waiting if isinstance(event, ExitEvent | LostEvent)]
        with contextlib.suppress(ProcessLookupError):
            assert await sandboxd.process.wait() == 0


async def test_a_restart_takes_the_old_socket_over(tmp_path: Path) -> None:
    async with running_sandboxd(tmp_path) as sandboxd:
        sandboxd.process.kill()
        await sandboxd.process.wait()
        assert sandboxd.socket.exists()
    async with running_sandboxd(tmp_path) as sandboxd, sandboxd.local() as local:
        assert events_of((await local.post("/v1/executions", json={"key": "a", "command": "true"})).content)
