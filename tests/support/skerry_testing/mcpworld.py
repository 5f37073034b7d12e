"""Servers of a profile for tests, and how an invocation opens them."""

from __future__ import annotations

from typing import Any

from skerry_api.mcp import McpServer, McpTransport
from skerry_runner.mcp.servers import McpToolServers
from skerry_runner.session import SandboxSession
from skerry_runner.toolservers import OpenServers
from skerry_testing.mcpserver import TOKEN
from skerry_testing.runnerworld import RunnerWorld

__all__ = ["HEADERS", "http", "opened"]

HEADERS = {"Authorization": f"Bearer {TOKEN}"}


def http(url: str, name: str = "web", **fields: Any) -> McpServer:
    return McpServer(name=name, transport=McpTransport.STREAMABLE_HTTP, url=url, **fields)


def opened(*servers: McpServer, world: RunnerWorld, headers: dict[str, str] | None = None) -> OpenServers:
    """The servers of an invocation; all of them with the same headers."""
    each = HEADERS if headers is None else headers

    def make(session: SandboxSession) -> McpToolServers:
        return McpToolServers(
            servers, session=session, journal=world.journal, headers={server.name: each for server in servers}
        )

    return make
