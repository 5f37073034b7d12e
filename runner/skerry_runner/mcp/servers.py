"""All MCP servers of an invocation: those that are not deferred at its start, the others with the first search."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from langchain_core.tools import BaseTool
from mcp_types import Tool
from typing_extensions import override

from skerry_api.mcp import McpServer, McpTransport
from skerry_runner.deferred import Catalogue, DeferredTool, Loaded
from skerry_runner.events import McpServerState
from skerry_runner.mcp.connection import Connection
from skerry_runner.mcp.content import Binary
from skerry_runner.mcp.errors import McpError
from skerry_runner.mcp.names import RESERVED, assign
from skerry_runner.mcp.openers import opener_for
from skerry_runner.mcp.tool import McpTool, digest, make_tool
from skerry_runner.outcome import RunEnded, app_error
from skerry_runner.ports import JournalPort
from skerry_runner.sandbox.errors import SandboxError
from skerry_runner.session import SandboxSession
from skerry_runner.toolservers import ToolServers

__all__ = ["UNAVAILABLE", "McpToolServers"]

UNAVAILABLE = "McpServerUnavailable"
"""Reason of a run that ends because a server which is not deferred can't be had."""


class McpToolServers(ToolServers):
    """`headers` by server. `reserved`: names that none of their tools may have."""

    def __init__(
        self,
        servers: Sequence[McpServer],
        *,
        session: SandboxSession,
        journal: JournalPort,
        headers: Mapping[str, Mapping[str, str]],
        reserved: Iterable[str] = (),
    ) -> None:
        self._servers = tuple(servers)
        self._session = session
        self._journal = journal
        self._reserved = RESERVED | frozenset(reserved)
        self._connections = {
            server.name: Connection(
                server,
                opener_for(server, headers.get(server.name, {}), session),
                partial(self._listed, server.name),
            )
            for server in self._servers
        }
        self._lists: dict[str, tuple[Tool, ...]] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._tools: dict[tuple[str, str], McpTool] = {}
        self._catalogue = Catalogue()
        self._fresh: list[str] = []
        """Servers whose new lists have no names yet."""
        self._connecting = 0
        self._loaded = False
        self._loading = asyncio.Lock()
        session.on_release(self._leave_sandbox)

    @property
    @override
    def catalogue(self) -> Catalogue:
        return self._catalogue

    @property
    @override
    def loaded(self) -> bool:
        return self._loaded

    @override
    async def open(self) -> Sequence[BaseTool]:
        bound = [server for server in self._servers if not server.deferred]
        for server, fault in (await self._connect(bound)).items():
            raise RunEnded(app_error(UNAVAILABLE, f"mcpServers[{server}]: {fault}"))
        keys = [(server.name, tool.name) for server in bound for tool in self._lists[server.name]]
        return [self._tools[key] for key in keys]

    @override
    async def load(self) -> Loaded:
        async with self._loading:
            faults = await self._connect([server for server in self._servers if server.deferred])
            self._loaded = True
            return Loaded(self._catalogue, faults)

    @override
    async def close(self) -> None:
        await asyncio.gather(*(connection.close() for connection in self._connections.values()))

    async def _leave_sandbox(self) -> None:
        """Processes are ended while there is a sandbox to end them in."""
        inside = [server.name for server in self._servers if server.transport is McpTransport.STDIO]
        await asyncio.gather(*(self._connections[name].close() for name in inside))

    async def _connect(self, servers: Sequence[McpServer]) -> dict[str, str]:
        """Be connected to all, side by side; returns faults by server. Raises RunEnded."""
        self._connecting += 1
        try:
            ends = await asyncio.gather(
                *(self._connections[server.name].connect() for server in servers), return_exceptions=True
            )
        finally:
            self._connecting -= 1
            self._settle()
        faults: dict[str, str] = {}
        for server, end in zip(servers, ends, strict=True):
            if isinstance(end, McpError):
                faults[server.name] = str(end)
                self._record(server.name, "failed", message=str(end))
            elif end is not None:
                raise end
        return faults

    def _listed(self, server: str, tools: Sequence[Tool]) -> None:
        """A new connection brought its list."""
        self._lists[server] = tuple(tools)
        self._fresh.append(server)
        if not self._connecting:
            self._settle()

    def _settle(self) -> None:
        """Name what is new in the profile's order, whoever answered first; what is the same stays the same tool."""
        fresh, self._fresh = set(self._fresh), []
        keys = [(each.name, tool.name) for each in self._servers for tool in self._lists.get(each.name, ())]
        self._names = assign(keys, self._names, self._reserved)
        for server in (each.name for each in self._servers if each.name in fresh):
            for tool in self._lists[server]:
                key = (server, tool.name)
                known = self._tools.get(key)
                if known is None or known.definition != tool:
                    call = self._connections[server].call
                    self._tools[key] = make_tool(self._names[key], tool, call, self._keep)
            named = tuple(self._names[server, tool.name] for tool in self._lists[server])
            self._record(server, "connected", tools=named)
        self._catalogue = Catalogue(tuple(self._deferred()))

    def _deferred(self) -> Iterable[DeferredTool]:
        for server in self._servers:
            for tool in self._lists.get(server.name, ()) if server.deferred else ():
                made = self._tools[server.name, tool.name]
                yield DeferredTool(made, server.name, digest(server.name, made.name, tool))

    def _record(
        self, server: str, state: str, *, tools: tuple[str, ...] = (), message: str | None = None
    ) -> None:
        self._journal.emit(McpServerState(server=server, state=state, tools=tools, message=message))

    async def _keep(self, part: Binary) -> str:
        try:
            await self._session.put_file(part.path, part.data)
        except SandboxError as error:
            return f"which could not be kept: {error}"
        return f"kept at {part.path}"
