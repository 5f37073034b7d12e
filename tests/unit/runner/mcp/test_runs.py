"""Tools of a real MCP server in runs through the real graph."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skerry_api.mcp import McpServer
from skerry_api.phases import OutcomeClass
from skerry_runner.mcp.servers import UNAVAILABLE
from skerry_runner.ports import RunResult
from skerry_runner.sandbox.local import LocalSandbox
from skerry_runner.toolservers import OpenServers
from skerry_testing.mcpprocess import traces
from skerry_testing.mcpworld import http, opened
from skerry_testing.runnerworld import RunnerWorld, document
from skerry_testing.serverruns import ServerRuns

Stdio = Callable[..., McpServer]
NAMES = ["add", "echo", "fail", "picture", "slow", "die", "structured", "bare"]


async def play(world: RunnerWorld, servers: OpenServers, *steps: dict[str, Any]) -> RunResult:
    script = json.dumps({"steps": [*steps, {"say": "done"}]})
    return await ServerRuns(world, servers).play(document(script, tools=()))


def calls(*made: tuple[str, dict[str, Any]], **expect: Any) -> dict[str, Any]:
    step: dict[str, Any] = {"toolCalls": [{"name": name, "args": args} for name, args in made]}
    return step | ({"expect": expect} if expect else {})


def results(world: RunnerWorld) -> list[tuple[str, str, str]]:
    return [(e["name"], e["status"], e["content"]) for e in world.sink.events("tool.result")]


def the(found: list[tuple[str, str, str]], name: str) -> tuple[str, str]:
    ((status, text),) = [(status, text) for each, status, text in found if each == name]
    return status, text


async def test_deferred_over_stdio_in_real_sandboxes(boxed: RunnerWorld, stdio: Stdio, state: Path) -> None:
    result = await play(
        boxed,
        opened(stdio(), world=boxed),
        calls(("tool_search", {"query": "select:add,echo,fail,tempers_bash"}), tools={"exclude": NAMES}),
        calls(
            ("add", {"a": 2, "b": 40}), ("echo", {"text": "äöü ✓", "config": "mine"}), ("fail", {}), ("tempers_bash", {}),
            tools={"include": ["add", "echo", "fail", "tempers_bash"], "exclude": ["slow", "picture"]},
        ),
    )  # fmt: skip
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    found = results(boxed)
    assert the(found, "add") == ("success", "42")
    assert the(found, "echo") == ("success", "äöü ✓ mine")
    assert the(found, "fail") == ("error", "Error: it went wrong")
    assert the(found, "tempers_bash") == ("success", "bash {}")
    assert traces(state).count("start") == 1
    (connected,) = boxed.sink.events("mcp.server")
    assert (connected["server"], connected["state"]) == ("tempers", "connected")
    # Its sandbox was acquired by the search, and let go of only after the server.
    assert [e["type"] for e in boxed.sink.events("sandbox.acquired", "sandbox.released")] == [
        "sandbox.acquired", "sandbox.released",
    ]  # fmt: skip


async def test_bound_over_http(world: RunnerWorld, url: str, state: Path) -> None:
    result = await play(
        world,
        opened(http(url, deferred=False), world=world),
        calls(("add", {"a": 1, "b": 2}), ("structured", {}), ("bare", {}), tools={"include": NAMES}),
        calls(("add", {"a": 3, "b": 4})),
    )
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    texts = sorted(text for _, _, text in results(world))
    assert texts == ["(no output)", "3", "7", '{"answer": 42}']
    assert world.provider.acquired == 0
    assert traces(state)[0] == "start"


async def test_two_servers_with_the_same_names(world: RunnerWorld, url: str) -> None:
    servers = opened(http(url, deferred=False), http(url, "other", deferred=False), world=world)
    result = await play(
        world,
        servers,
        calls(
            ("add", {"a": 1, "b": 1}),
            ("other_add", {"a": 2, "b": 2}),
            tools={"include": ["web_bash", "other_bash"]},
        ),
    )
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    assert (the(results(world), "add"), the(results(world), "other_add")) == (
        ("success", "2"),
        ("success", "4"),
    )


async def test_bytes_are_kept_for_the_agent_and_not_in_its_messages(boxed: RunnerWorld, url: str) -> None:
    await play(boxed, opened(http(url, deferred=False), world=boxed), calls(("picture", {})))
    status, text = the(results(boxed), "picture")
    assert status == "success"
    look, image, link, blob, inner = text.split("\n")
    assert (look, link, inner) == (
        "look:",
        "[resource there at https://example.org/there (type unknown)]",
        "in a resource",
    )
    assert image.startswith("[image/png, 70 bytes, kept at /mnt/user-data/outputs/mcp/")
    assert blob.startswith("[application/x-thing, 3 bytes, kept at ")


@pytest.mark.parametrize("name", ["add", "nothing"])
async def test_what_the_server_refuses_is_a_result(world: RunnerWorld, url: str, name: str) -> None:
    arguments = {"a": "one"} if name == "add" else {}
    result = await play(world, opened(http(url, deferred=False), world=world), calls((name, arguments)))
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    assert the(results(world), name)[0] == "error"


async def test_a_call_that_takes_too_long(boxed: RunnerWorld, stdio: Stdio, state: Path) -> None:
    server = stdio(deferred=False, call_timeout_seconds=1)
    result = await play(
        boxed,
        opened(server, world=boxed),
        calls(("slow", {"seconds": 600})),
        calls(("add", {"a": 1, "b": 1})),
    )
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    status, text = the(results(boxed), "slow")
    assert status == "error"
    assert "did not answer within 1 s; whether the call had an effect is not known" in text
    assert the(results(boxed), "add") == ("success", "2")
    # It answers still, so it was not started anew.
    assert traces(state).count("start") == 1


async def test_a_server_that_dies_is_started_anew_and_no_call_made_twice(
    boxed: RunnerWorld, stdio: Stdio, state: Path
) -> None:
    result = await play(
        boxed,
        opened(stdio(deferred=False), world=boxed),
        calls(("die", {})),
        calls(("add", {"a": 20, "b": 1})),
    )
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    status, text = the(results(boxed), "die")
    assert status == "error"
    assert "the connection to server tempers was lost" in text
    assert "whether the call had an effect is not known" in text
    assert "exit code 3" in text
    assert the(results(boxed), "add") == ("success", "21")
    assert traces(state) == ["start", "call die {}", "start", 'call add {"a": 20, "b": 1}']


async def test_a_server_that_can_not_start_says_why(boxed: RunnerWorld, stdio: Stdio) -> None:
    broken = stdio(command="bash", args=("-c", "echo no such thing >&2; exit 4"))
    result = await play(boxed, opened(broken, world=boxed), calls(("tool_search", {"query": "add"})))
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    status, text = the(results(boxed), "tool_search")
    assert status == "success"
    assert "Server tempers could not be searched: server tempers can't be used" in text
    assert "exit code 4" in text
    assert "no such thing" in text


async def test_one_server_down_does_not_hide_the_others(world: RunnerWorld, url: str) -> None:
    down = http("http://127.0.0.1:9/mcp", "down", connect_timeout_seconds=5)
    result = await play(
        world, opened(down, http(url), world=world),
        calls(("tool_search", {"query": "select:add"})),
        calls(("add", {"a": 1, "b": 2})),
    )  # fmt: skip
    assert result.outcome.class_ is OutcomeClass.SUCCEEDED, result.outcome
    assert "Server down could not be searched" in the(results(world), "tool_search")[1]
    assert the(results(world), "add") == ("success", "3")
    states = {event["server"]: event["state"] for event in world.sink.events("mcp.server")}
    assert states == {"down": "failed", "web": "connected"}


async def test_a_bound_server_that_is_down_ends_the_run_with_a_reason(world: RunnerWorld) -> None:
    down = http("http://127.0.0.1:9/mcp", "down", deferred=False, connect_timeout_seconds=5)
    result = await play(world, opened(down, world=world))
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.APP_ERROR, UNAVAILABLE)
    assert result.outcome.message.startswith("mcpServers[down]: server down can't be used")
    assert world.sink.events("model.request") == []


async def test_a_wrong_token_is_told_and_never_shown(world: RunnerWorld, url: str) -> None:
    servers = opened(http(url, deferred=False), world=world, headers={"Authorization": "Bearer wrong-token"})
    result = await play(world, servers)
    assert (result.outcome.class_, result.outcome.reason) == (OutcomeClass.APP_ERROR, UNAVAILABLE)
    assert "HTTP 401" in result.outcome.message
    assert "wrong-token" not in result.outcome.message + json.dumps(world.sink.events())


async def test_no_local_bash_no_local_server(world: RunnerWorld, stdio: Stdio, tmp_path: Path) -> None:
    local = LocalSandbox("sbx-1", tmp_path / "thread", allow_bash=False)
    world.provider.sandbox = local  # type: ignore[assignment]  # any implementation will do
    await play(world, opened(stdio(), world=world), calls(("tool_search", {"query": "add"})))
    assert "Commands are switched off here" in the(results(world), "tool_search")[1]
    await local.close()
