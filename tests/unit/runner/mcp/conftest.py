"""Servers of `skerry_testing.mcpserver`, over HTTP and over stdio in sandboxes of all kinds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from skerry_api.common import EnvVar
from skerry_api.mcp import McpServer, McpTransport
from skerry_runner.sandbox.access import FixedAccess
from skerry_runner.sandbox.local import LocalSandbox
from skerry_runner.sandbox.remote import RemoteSandbox
from skerry_testing.mcpprocess import command_line, running_http
from skerry_testing.runnerworld import RunnerWorld
from skerry_testing.sandboxd import running_sandboxd


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Where servers leave traces."""
    return tmp_path / "state"


@pytest.fixture
def stdio(state: Path) -> Callable[..., McpServer]:
    """Makes a stdio server of a profile."""

    def make(name: str = "tempers", *, env: dict[str, str] | None = None, **fields: Any) -> McpServer:
        command, args, base = command_line()
        variables = base | {"MCP_STATE": str(state)} | (env or {})
        given: dict[str, Any] = {
            "name": name, "transport": McpTransport.STDIO, "command": command, "args": args,
            "env": tuple(EnvVar(name=key, value=value) for key, value in variables.items()),
            "connect_timeout_seconds": 60,
        }  # fmt: skip
        return McpServer(**(given | fields))

    return make


@pytest.fixture
async def url(state: Path) -> AsyncIterator[str]:
    async with running_http(state) as (address, _port):
        yield address


@pytest.fixture(params=["local", "sandboxd"])
async def boxed(
    request: pytest.FixtureRequest, world: RunnerWorld, tmp_path: Path
) -> AsyncIterator[RunnerWorld]:
    """A world whose sandbox is a real one."""
    if request.param == "local":
        local = LocalSandbox("sbx-1", tmp_path / "thread", allow_bash=True)
        world.provider.sandbox = local  # type: ignore[assignment]  # any implementation will do
        yield world
        await local.close()
        return
    async with running_sandboxd(tmp_path / "pod") as sandboxd:
        remote = RemoteSandbox("sbx-1", FixedAccess(sandboxd.access()), sandboxd.identity.runner)
        world.provider.sandbox = remote  # type: ignore[assignment]  # as above
        yield world
        await remote.close()
