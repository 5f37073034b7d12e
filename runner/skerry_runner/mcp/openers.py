"""The two ways to a server, as the connection sees them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from mcp import MCPError
from mcp.client._transport import TransportStreams
from typing_extensions import override

from skerry_api.mcp import McpServer, McpTransport
from skerry_runner.mcp.connection import Opener
from skerry_runner.mcp.http import LastStatus, open_http
from skerry_runner.mcp.stdio import Diagnosis, open_stdio
from skerry_runner.outcome import RunEnded, cancelled, sandbox_lost
from skerry_runner.ports import CancelReason
from skerry_runner.sandbox.errors import SandboxFenced, SandboxLost, SandboxReplaced
from skerry_runner.session import SandboxSession

__all__ = ["HttpOpener", "StdioOpener", "opener_for"]


class HttpOpener(Opener):
    def __init__(self, server: McpServer, headers: Mapping[str, str]) -> None:
        self._server = server
        self._headers = headers
        self._status = LastStatus()

    @override
    def streams(self) -> AbstractAsyncContextManager[TransportStreams]:
        self._status = LastStatus()
        return open_http(self._server, self._headers, self._status)

    @override
    def translated(self, error: BaseException) -> BaseException:
        return error

    @override
    def diagnosis(self) -> str:
        return str(self._status)


class StdioOpener(Opener):
    """Acquires the sandbox if need be."""

    def __init__(self, server: McpServer, session: SandboxSession) -> None:
        self._server = server
        self._session = session
        self._diagnosis = Diagnosis()

    @override
    def streams(self) -> AbstractAsyncContextManager[TransportStreams]:
        self._diagnosis = diagnosis = Diagnosis()

        @asynccontextmanager
        async def opened() -> AsyncIterator[TransportStreams]:
            sandbox = await self._session.acquire()
            async with open_stdio(self._server, sandbox, diagnosis) as streams:
                yield streams

        return opened()

    @override
    def translated(self, error: BaseException) -> BaseException:
        # The session saw only an end of the stream; the process knows why.
        if isinstance(error, MCPError) and self._diagnosis.error is not None:
            error = self._diagnosis.error
        match error:
            case SandboxFenced():
                return RunEnded(cancelled(CancelReason.FENCED))
            case SandboxLost():
                return RunEnded(sandbox_lost(str(error)))
            case SandboxReplaced():
                self._session.replaced(str(error))
            case _:
                pass
        return error

    @override
    def diagnosis(self) -> str:
        return str(self._diagnosis)


def opener_for(server: McpServer, headers: Mapping[str, str], session: SandboxSession) -> Opener:
    if server.transport is McpTransport.STDIO:
        return StdioOpener(server, session)
    return HttpOpener(server, headers)
