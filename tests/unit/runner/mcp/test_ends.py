"""Losses and ends: servers that change or vanish, runs that are cancelled or fenced, runners that died."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_types import Tool

from skerry_api.mcp import McpServer
from skerry_api.phases import OutcomeClass
from skerry_runner.mcp.connection import Connection
from skerry_runner.mcp.errors import McpCallFailed, McpUnavailable
from skerry_runner.mcp.openers import HttpOpener, StdioOpener
from skerry_runner.outcome import RunEnded
from skerry_runner.sandbox.errors import SandboxFenced, SandboxLost, SandboxReplaced
from skerry_runner.sandbox.types import Source
from skerry_runner.session import SandboxSession
from skerry_testing.conformance.harness import alive, pids
from skerry_testing.eventually import eventually
from skerry_testing.fakeprocess import FakeProcess
from skerry_testing.mcpprocess import running_http, traces
from skerry_testing.mcpworld import HEADERS, http, opened
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.serverruns import ServerRuns

Stdio = Callable[..., McpServer]


def session_of(world: RunnerWorld) -> SandboxSession:
    return SandboxSession(world.provider, world.reporter, world.journal)


class Listened:
    """Keeps the lists that a connection brings."""

    def __init__(self) -> None:
        self.lists: list[dict[str, Tool]] = []

    def __call__(self, tools: Any) -> None:
        self.lists.append({tool.name: tool for tool in tools})


async def test_a_server_restarted_over_http_is_found_again(state: Path) -> None:
    heard = Listened()
    async with running_http(state) as (url, port):
        connection = Connection(http(url), HttpOpener(http(url), HEADERS), heard)
        await connection.connect()
        add = heard.lists[0]["add"]
        assert (await connection.call(add, {"a": 1, "b": 1})).content[0].text == "2"  # type: ignore[union-attr]  # text it is
    with pytest.raises((McpCallFailed, McpUnavailable)):
        await connection.call(add, {"a": 2, "b": 2})
    async with running_http(state, port):
        result = await connection.call(add, {"a": 3, "b": 3})
        assert result.content[0].text == "6"  # type: ignore[union-attr]  # as above
        await connection.close()
    assert [line for line in traces(state) if line.startswith("call")] == [
        'call add {"a": 1, "b": 1}', 'call add {"a": 3, "b": 3}',
    ]  # fmt: skip


async def test_a_tool_that_changed_in_between_is_not_called(state: Path) -> None:
    heard = Listened()
    async with running_http(state) as (url, port):
        connection = Connection(http(url), HttpOpener(http(url), HEADERS), heard)
        await connection.connect()
    add = heard.lists[0]["add"]
    with pytest.raises((McpCallFailed, McpUnavailable)):
        await connection.call(add, {"a": 1, "b": 1})
    async with running_http(state, port, MCP_VARIANT="changed"):
        with pytest.raises(McpCallFailed, match="has changed the tool 'add'"):
            await connection.call(add, {"a": 2, "b": 2})
        assert heard.lists[-1]["add"].description == "Add, but differently."
        await connection.call(heard.lists[-1]["add"], {"a": 3, "b": 3})
        await connection.close()
    assert traces(state).count('call add {"a": 3, "b": 3}') == 1
    assert not any('"a": 2' in line for line in traces(state))


async def test_many_calls_side_by_side_keep_their_answers(boxed: RunnerWorld, stdio: Stdio) -> None:
    session, heard = session_of(boxed), Listened()
    connection = Connection(stdio(), StdioOpener(stdio(), session), heard)
    async with session.hold():
        await connection.connect()
        add = heard.lists[0]["add"]
        answers = await asyncio.gather(*(connection.call(add, {"a": n, "b": 0}) for n in range(50)))
        assert [answer.content[0].text for answer in answers] == [str(n) for n in range(50)]  # type: ignore[union-attr]  # texts
        await connection.close()


async def test_connecting_side_by_side_starts_one_server(
    boxed: RunnerWorld, stdio: Stdio, state: Path
) -> None:
    session, heard = session_of(boxed), Listened()
    connection = Connection(stdio(), StdioOpener(stdio(), session), heard)
    async with session.hold():
        await asyncio.gather(*(connection.connect() for _ in range(5)))
        await connection.close()
    assert (traces(state), len(heard.lists)) == (["start"], 1)


async def test_a_cancelled_run_leaves_no_server(
    boxed: RunnerWorld, stdio: Stdio, state: Path, tmp_path: Path
) -> None:
    server = stdio(deferred=False, env={"MCP_PIDS": str(tmp_path / "pids")})
    script = json.dumps({"steps": [{"toolCalls": [{"name": "slow", "args": {"seconds": 600}}]}]})
    runs = ServerRuns(boxed, opened(server, world=boxed))
    task = asyncio.create_task(runs.play(document(script, tools=())))
    await eventually(lambda: any(line.startswith("call slow") for line in traces(state)))
    (pid,) = pids(tmp_path / "pids")
    assert alive(pid)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(lambda: not alive(pid))


async def test_what_a_dead_runner_left_is_ended_first(boxed: RunnerWorld, stdio: Stdio, state: Path) -> None:
    """The first connection is never closed, as if its runner had died."""
    session, heard = session_of(boxed), Listened()
    dead = Connection(stdio(), StdioOpener(stdio(), session), heard)
    async with session.hold():
        await dead.connect()
        living = Connection(stdio(), StdioOpener(stdio(), session), heard)
        await living.connect()
        assert traces(state) == ["start", "start"]
        add = heard.lists[1]["add"]
        assert (await living.call(add, {"a": 1, "b": 1})).content[0].text == "2"  # type: ignore[union-attr]  # text it is
        assert dead._live is not None
        # Its process is gone: whoever still asks it hears of a loss, and does not hang.
        with pytest.raises(McpCallFailed, match="was lost"):
            await asyncio.wait_for(dead.call(add, {"a": 1, "b": 1}), 60)
        await living.close()
        await dead.close()


async def silent(process: FakeProcess) -> str:
    await asyncio.Event().wait()
    return "never"


async def chatty(process: FakeProcess) -> str:
    process.say(b'not json\n{"neither": 1}\n[1,2]\n')
    process.say(b"\xff\xfe broken\n", Source.STDERR)
    return "exit code 1"


async def endless(process: FakeProcess) -> str:
    for _ in range(40):
        process.say(b"x" * 1024 * 1024)
    await asyncio.Event().wait()
    return "never"


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (silent, ["no answer within 1 s"]),
        (chatty, ["its process ended with exit code 1", "\ufffd\ufffd broken"]),
        (endless, ["a line of more than"]),
    ],
)
async def test_servers_that_say_nothing_of_use(
    world: RunnerWorld, stdio: Stdio, program: Any, words: list[str]
) -> None:
    world.provider.sandbox.program = program
    server = stdio(connect_timeout_seconds=1)
    session = session_of(world)
    connection = Connection(server, StdioOpener(server, session), Listened())
    async with session.hold():
        with pytest.raises(McpUnavailable) as caught:
            await connection.connect()
    for word in words:
        assert word in str(caught.value)
    (process,) = world.provider.sandbox.processes.values()
    assert process.ended


@pytest.mark.parametrize("when", ["acquire", "start"])
async def test_a_fenced_runner_ends_its_run(world: RunnerWorld, stdio: Stdio, when: str) -> None:
    fenced = SandboxFenced("StaleEpoch", "a newer runner has been here")
    if when == "acquire":
        world.provider.failures.append(fenced)
    else:
        world.provider.sandbox.refusing = fenced
    script = json.dumps({"steps": [{"toolCalls": [{"name": "tool_search", "args": {"query": "x"}}]}]})
    result = await ServerRuns(world, opened(stdio(), world=world)).play(document(script, tools=()))
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.INTERRUPTED, "Fenced")


async def test_a_replaced_sandbox_is_told_and_journaled(world: RunnerWorld, stdio: Stdio) -> None:
    world.provider.sandbox.refusing = SandboxReplaced(may_have_run=False)
    session = session_of(world)
    connection = Connection(stdio(), StdioOpener(stdio(), session), Listened())
    async with session.hold():
        with pytest.raises(McpUnavailable, match="The sandbox was replaced"):
            await connection.connect()
    await world.journal.flush()
    assert len(world.sink.events("sandbox.replaced")) == 1


async def test_cancelling_while_it_connects_leaves_nothing(world: RunnerWorld, stdio: Stdio) -> None:
    world.provider.sandbox.program = silent
    session = session_of(world)
    connection = Connection(stdio(), StdioOpener(stdio(), session), Listened())
    async with session.hold():
        task = asyncio.create_task(connection.connect())
        await eventually(lambda: bool(world.provider.sandbox.processes))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        (process,) = world.provider.sandbox.processes.values()
        assert process.ended
        await connection.close()


async def test_a_lost_sandbox_ends_the_run(world: RunnerWorld, stdio: Stdio) -> None:
    world.provider.failures.append(SandboxLost("gone for good"))
    session = session_of(world)
    connection = Connection(stdio(), StdioOpener(stdio(), session), Listened())
    with pytest.raises(RunEnded) as caught:
        await connection.connect()
    assert caught.value.outcome.class_ is OutcomeClass.SANDBOX_LOST
