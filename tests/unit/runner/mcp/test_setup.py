"""From the document to the servers; and what a run without any does not pay."""

from __future__ import annotations

import subprocess
import sys

import pytest

from skerry_api.mcp import McpTransport, headers_env, needs_sandbox
from skerry_runner.mcp.servers import McpToolServers
from skerry_runner.mcpsetup import header_secrets, mcp_servers
from skerry_runner.outcome import InvalidDocument
from skerry_runner.session import SandboxSession
from skerry_runner.toolservers import NoToolServers, no_servers
from skerry_testing.mcpworld import http
from skerry_testing.runnerworld import RunnerWorld

WEB = http("https://example.org/mcp")
BOX = WEB.model_copy(update={"name": "box", "transport": McpTransport.STDIO, "command": "x", "url": None})


async def test_without_servers_there_is_nothing_to_open(world: RunnerWorld) -> None:
    assert mcp_servers((), environ={}, journal=world.journal) is no_servers
    servers = no_servers(SandboxSession(world.provider, world.reporter, world.journal))
    assert isinstance(servers, NoToolServers)
    assert (await servers.open(), (await servers.load()).catalogue.tools, servers.loaded) == ((), (), True)
    await servers.close()


async def test_with_servers(world: RunnerWorld) -> None:
    make = mcp_servers((WEB,), environ={headers_env("web"): "X: y"}, journal=world.journal)
    servers = make(SandboxSession(world.provider, world.reporter, world.journal))
    assert isinstance(servers, McpToolServers)
    await servers.close()


def test_bad_headers_are_found_before_anything_is_opened(world: RunnerWorld) -> None:
    with pytest.raises(InvalidDocument, match="headersSecretRef"):
        mcp_servers((WEB,), environ={headers_env("web"): "nonsense"}, journal=world.journal)


def test_secrets_are_values_and_tokens() -> None:
    headers = {"a": {"Authorization": "Bearer tok-en"}, "b": {"X-Key": "key"}}
    assert header_secrets(headers) == ("Bearer tok-en", "key", "tok-en")


@pytest.mark.parametrize(
    ("servers", "eager"),
    [
        ((), False),
        ((WEB, BOX), False),
        ((WEB.model_copy(update={"deferred": False}),), False),
        ((WEB, BOX.model_copy(update={"deferred": False})), True),
    ],
)
def test_a_bound_server_in_the_sandbox_needs_it_from_the_start(
    servers: tuple[object, ...], eager: bool
) -> None:
    assert needs_sandbox(servers) is eager  # type: ignore[arg-type]  # servers they are


def test_a_run_without_servers_does_not_import_the_sdk() -> None:
    code = (
        "import sys, skerry_runner.invocation, skerry_runner.mcpsetup, skerry_runner.middleware.deferredtoolfilter;"
        "print([m for m in ('mcp', 'mcp_types', 'starlette') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
