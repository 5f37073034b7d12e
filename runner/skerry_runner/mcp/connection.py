"""One server: connected when first needed, kept while it answers, connected anew after a loss.

A call is never made twice: after a loss nobody knows whether it had an effect.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from mcp import Client, MCPError
from mcp.client._transport import TransportStreams
from mcp_types import CONNECTION_CLOSED, REQUEST_TIMEOUT, CallToolResult, Implementation, Tool

from skerry_api.mcp import McpServer
from skerry_runner.mcp.errors import McpCallFailed, McpUnavailable, cause_of, reason_of
from skerry_runner.outcome import RunEnded

__all__ = ["Connection", "Opener"]

log = logging.getLogger(__name__)
PAGES_MAX = 100
TOOLS_MAX = 2000
PROBE_SECONDS = 5.0
CLOSE_SECONDS = 10.0
SPARE_SECONDS = 5.0
SESSION_LOST = "Session terminated"
"""The SDK's word for HTTP 404 on a session that was."""


class Opener(Protocol):
    """How to reach a server."""

    def streams(self) -> AbstractAsyncContextManager[TransportStreams]:
        """A new connection's streams."""
        ...

    def translated(self, error: BaseException) -> BaseException:
        """What an error means here; RunEnded ends the run."""
        ...

    def diagnosis(self) -> str:
        """What is known of the newest connection beside its messages; empty if nothing."""
        ...


@dataclass
class _Live:
    """A connection that stands. `suspect`: it did not answer in time, and is asked for a sign of life first."""

    client: Client
    tools: Mapping[str, Tool]
    stop: asyncio.Event
    owner: asyncio.Task[None]
    suspect: bool = False


class Connection:
    """`on_listed` hears of every list of tools that a new connection brings."""

    def __init__(
        self, server: McpServer, opener: Opener, on_listed: Callable[[Sequence[Tool]], None]
    ) -> None:
        self.server = server
        self._opener = opener
        self._on_listed = on_listed
        self._lock = asyncio.Lock()
        self._live: _Live | None = None

    async def connect(self) -> None:
        """Be connected, and have the list of tools.

        Raises:
            McpUnavailable: not within the server's time.
            RunEnded: the sandbox is lost, or another epoch has it.
        """
        await self._standing()

    async def call(self, tool: Tool, arguments: dict[str, Any]) -> CallToolResult:
        """Call a tool as it was listed.

        Raises:
            McpUnavailable: nothing was called.
            McpCallFailed: it may have been.
            RunEnded: as above.
        """
        live = await self._standing()
        if live.tools.get(tool.name) != tool:
            raise McpCallFailed(
                f"server {self.server.name} has changed the tool '{tool.name}' since you were told of it, "
                "so it was not called"
            )
        seconds = self.server.call_timeout_seconds
        try:
            # The SDK's own limit does not count the time in which a server does not read.
            async with asyncio.timeout(seconds + SPARE_SECONDS):
                return await live.client.call_tool(tool.name, arguments, read_timeout_seconds=seconds)
        except RunEnded:
            raise
        except Exception as error:
            raise await self._failed(live, error) from error

    async def close(self) -> None:
        """End the connection, if there is one. Bounded."""
        live, self._live = self._live, None
        if live is not None:
            await _ended(live)

    async def _standing(self) -> _Live:
        async with self._lock:
            live = self._live
            if live is not None and live.suspect:
                live.suspect = not await _answers(live.client)
            if live is not None and (live.suspect or live.owner.done()):
                await self.close()
                live = None
            if live is None:
                live = self._live = await self._connected()
                self._on_listed(tuple(live.tools.values()))
            return live

    async def _connected(self) -> _Live:
        ready: asyncio.Future[_Live] = asyncio.get_running_loop().create_future()
        stop = asyncio.Event()
        # A task of its own: the SDK's scopes must be left in the task that entered them.
        owner = asyncio.create_task(self._own(ready, stop), name=f"mcp {self.server.name}")
        try:
            # The owner may die without a word only by cancellation.
            either: set[asyncio.Future[Any]] = {owner, ready}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            owner.cancel()
            await asyncio.wait({owner}, timeout=CLOSE_SECONDS)
            ready.cancel()
            raise
        if not ready.done():
            raise McpUnavailable(f"server {self.server.name} was let go of while it was connected to")
        return ready.result()

    async def _own(self, ready: asyncio.Future[_Live], stop: asyncio.Event) -> None:
        owner = asyncio.current_task()
        assert owner is not None  # noqa: S101 - we are in it
        try:
            async with asyncio.timeout(self.server.connect_timeout_seconds) as limit:
                about = Implementation(name="skerry", version="0")
                async with Client(self._opener.streams(), client_info=about, cache=None) as client:
                    tools = await _listed(client)
                    limit.reschedule(None)
                    if not ready.done():
                        ready.set_result(_Live(client, tools, stop, owner))
                    await stop.wait()
        except Exception as error:  # noqa: BLE001 - told to whoever waits, or logged
            if ready.done():
                log.info("connection lost", extra={"server": self.server.name, "error": reason_of(error)})
            else:
                ready.set_exception(self._unavailable(error))

    def _unavailable(self, error: BaseException) -> BaseException:
        cause = self._opener.translated(cause_of(error))
        if isinstance(cause, RunEnded):
            return cause
        late = f"no answer within {self.server.connect_timeout_seconds} s"
        why = late if isinstance(cause, TimeoutError) else reason_of(cause)
        return McpUnavailable(self._with_diagnosis(f"server {self.server.name} can't be used: {why}"))

    async def _failed(self, live: _Live, error: Exception) -> BaseException:
        """The error of a call, and what it means for the connection."""
        cause = self._opener.translated(cause_of(error))
        if isinstance(cause, RunEnded):
            return cause
        server, unknown = self.server.name, "whether the call had an effect is not known"
        if isinstance(cause, TimeoutError) or (isinstance(cause, MCPError) and cause.code == REQUEST_TIMEOUT):
            live.suspect = True
            return McpCallFailed(
                f"server {server} did not answer within {self.server.call_timeout_seconds} s; {unknown}"
            )
        if isinstance(cause, MCPError) and cause.code != CONNECTION_CLOSED and cause.message != SESSION_LOST:
            return McpCallFailed(self._with_diagnosis(f"server {server} refused: {reason_of(cause)}"))
        if self._live is live:
            await self.close()
        ended = self._opener.translated(cause)
        if isinstance(ended, RunEnded):
            return ended
        return McpCallFailed(
            self._with_diagnosis(
                f"the connection to server {server} was lost ({reason_of(cause)}); {unknown}"
            )
        )

    def _with_diagnosis(self, text: str) -> str:
        return f"{text}; {more}" if (more := self._opener.diagnosis()) else text


async def _listed(client: Client) -> dict[str, Tool]:
    """All pages. The first of two tools with one name stands."""
    tools: dict[str, Tool] = {}
    cursor: str | None = None
    for _ in range(PAGES_MAX):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            tools.setdefault(tool.name, tool)
        cursor = page.next_cursor
        if not cursor:
            return tools
        if len(tools) > TOOLS_MAX:
            break
    raise McpUnavailable(f"its list of tools has no end (more than {len(tools)} so far)")


async def _answers(client: Client) -> bool:
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            await client.list_tools(cache_mode="refresh")
    except Exception:  # noqa: BLE001 - whatever it is, it is no answer
        return False
    return True


async def _ended(live: _Live) -> None:
    live.stop.set()
    done, _ = await asyncio.wait({live.owner}, timeout=CLOSE_SECONDS)
    if not done:
        live.owner.cancel()
        await asyncio.wait({live.owner}, timeout=CLOSE_SECONDS)
