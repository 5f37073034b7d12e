"""`skerry exec` and `skerry shell` as processes, through a stand-in for kubectl to a real sandboxd."""

from __future__ import annotations

import asyncio
import signal

import httpx
import pytest

from skerry_api.sandboxd_api import Idle
from skerry_api.sandboxd_events import ExitEvent, LostEvent
from skerry_cli.execute import exit_code
from skerry_testing.insidestand import InsideStand


async def test_streams_and_exit_code_are_the_command_s_own(inside: InsideStand) -> None:
    done = await inside.skerry(
        "exec",
        "hello",
        "--",
        "bash",
        "-c",
        "pwd; printf '\\xe2\\x80\\xa8\\xc2\\x85' ; echo 'two  words' >&2; exit 7",
    )
    assert (done.code, done.out, done.error) == (
        7,
        b"/mnt/user-data/workspace\n\xe2\x80\xa8\xc2\x85",
        "two  words\n",
    )
    assert {line.split(" -- ")[0] for line in inside.asked if line.startswith("exec")} == {
        "exec --stdin pod/sb-1 --container=sandbox"
    }


async def test_arguments_are_handed_on_as_they_are(inside: InsideStand) -> None:
    done = await inside.skerry(
        "exec", "sbx/sb-1", "-n", "runs", "--context", "c", "--", "printf", "%s|", "$HOME", "a b", "'"
    )
    assert (done.code, done.out) == (0, b"$HOME|a b|'|")
    assert all(line.startswith("--context=c --namespace=runs ") for line in inside.asked)


async def test_standard_input_arrives_whole_with_its_end(inside: InsideStand) -> None:
    data = bytes(range(256)) * 8192
    done = await inside.skerry("exec", "-i", "hello", "--", "cat", given=data)
    assert (done.code, done.error) == (0, "")
    assert done.out == data
    without = await inside.skerry("exec", "hello", "--", "cat", given=b"not asked for")
    assert (without.code, without.out) == (0, b"")


async def test_a_command_that_does_not_read_its_input_ends_all_the_same(inside: InsideStand) -> None:
    done = await inside.skerry("exec", "-i", "hello", "--", "echo", "on", given=b"x" * 4_000_000)
    assert (done.code, done.out, done.error) == (0, b"on\n", "")


async def test_an_interrupt_kills_the_command(inside: InsideStand) -> None:
    async with inside.started("exec", "hello", "--", "bash", "-c", "echo up; exec sleep 600") as process:
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), 60) == b"up\n"
        process.send_signal(signal.SIGINT)
        assert await asyncio.wait_for(process.wait(), 60) == 130
    async with inside.sandboxd.local() as local:
        await eventually_idle(local)


async def eventually_idle(local: httpx.AsyncClient) -> None:
    async def processes() -> int:
        return Idle.model_validate_json((await local.get("/v1/idle")).content).processes

    for _ in range(600):
        if await processes() == 0:
            return
        await asyncio.sleep(0.05)
    pytest.fail("it still runs")


async def test_what_cannot_be_entered_is_said(inside: InsideStand) -> None:
    inside.know("agentrun", "fresh", {"phase": "Provisioning"})
    inside.know("sandbox", "gone", {"phase": "Released"})
    for name, words in {
        "fresh": "AgentRun fresh has no sandbox (Provisioning)",
        "sbx/gone": "Sandbox gone is Released: nothing runs in it",
        "none": 'Error from server (NotFound): agentrun "none" not found',
        "pod/x": "pod/x: give the name of an AgentRun, or sbx/NAME",
    }.items():
        done = await inside.skerry("exec", name, "--", "true")
        assert (done.code, done.out, done.error) == (2, b"", f"skerry: {words}\n")
    (inside.folder / "forbidden").touch()
    for command in (("exec", "hello", "--", "true"), ("shell", "hello")):
        done = await inside.skerry(*command)
        assert (done.code, done.error) == (
            2,
            'skerry: Error from server (Forbidden): pods "sb-1" is forbidden\n',
        )


async def test_a_shell_reads_from_here_and_counts_as_use(inside: InsideStand) -> None:
    done = await inside.skerry("shell", "hello", given=b"echo $((6 * 7)); exit 3\n")
    assert (done.code, done.out) == (3, b"42\n")
    assert inside.asked[-1].startswith("exec --stdin pod/sb-1 --container=sandbox -- /bin/bash -c ")
    async with inside.sandboxd.local() as local:
        assert (await local.get("/v1/idle")).json()["lastUsedBy"] == "local"


def test_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code(ExitEvent(code=3, duration_ms=1)) == 3
    assert exit_code(ExitEvent(signal="SIGTERM", duration_ms=1)) == 143
    assert exit_code(LostEvent(message="unknown")) == 1
    assert capsys.readouterr().err == "skerry: unknown\n"
