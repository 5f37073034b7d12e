"""stdio: a server as a process inside the sandbox, a JSON-RPC message a line."""

from __future__ import annotations

import logging
import shlex
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from typing_extensions import override

from skerry_api.mcp import McpServer
from skerry_runner.mcp.http import MESSAGE_MAX
from skerry_runner.sandbox.errors import SandboxError, SandboxFenced, SandboxLost, SandboxProtocolError
from skerry_runner.sandbox.process import Process
from skerry_runner.sandbox.types import Chunk, Sandbox, Source

__all__ = ["Diagnosis", "Lines", "command_of", "open_stdio"]

log = logging.getLogger(__name__)
STDERR_KEPT = 2000
_LAST_WORDS = 2.0
"""Seconds in which a server that takes no more messages may end and say why."""
_CLOSED = (anyio.ClosedResourceError, anyio.BrokenResourceError)
Incoming = MemoryObjectSendStream[SessionMessage | Exception]


def command_of(server: McpServer) -> str:
    """The shell's command line; the shell gives way to the program, so that signals reach it."""
    return f"exec {shlex.join([server.command or '', *server.args])}"


class Lines:
    """Bytes cut anywhere into whole lines."""

    def __init__(self, limit: int = MESSAGE_MAX) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Lines that are whole now, blank ones left out. Raises SandboxProtocolError if one is too long."""
        *whole, rest = data.split(b"\n")
        if whole:
            whole[0] = b"".join((*self._parts, whole[0]))
            self._parts, self._size = [], 0
        self._parts.append(rest)
        self._size += len(rest)
        if self._size > self._limit:
            raise SandboxProtocolError(f"the server sent a line of more than {self._limit} bytes")
        return [line for line in whole if line.strip()]


class Diagnosis:
    """What is known of a process beside its messages: how it ended, what it complained of."""

    def __init__(self) -> None:
        self.ended: str | None = None
        self.error: SandboxError | None = None
        self._stderr = b""

    def complain(self, data: bytes) -> None:
        self._stderr = (self._stderr + data)[-STDERR_KEPT:]

    @override
    def __str__(self) -> str:
        said = self._stderr.decode("utf-8", "replace").strip()
        ended = f"its process ended with {self.ended}" if self.ended else ""
        return "; ".join(filter(None, (ended, said and f"it said on standard error: {said}")))


@asynccontextmanager
async def open_stdio(
    server: McpServer, sandbox: Sandbox, diagnosis: Diagnosis
) -> AsyncIterator[TransportStreams]:
    """Start the process and yield its streams; it is ended with the block, whichever way.

    Raises:
        SandboxError: it can't be started.
    """
    env = {variable.name: variable.value for variable in server.env}
    process = await sandbox.start_process(f"mcp.{server.name}", command_of(server), env=env)
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    try:
        async with incoming, read, write, outgoing, anyio.create_task_group() as pumps:
            over = anyio.Event()
            pumps.start_soon(_read, process, incoming, diagnosis, over)
            pumps.start_soon(_write, process, outgoing, incoming, over)
            try:
                yield read, write
            finally:
                pumps.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True):
            await process.end()


async def _read(process: Process, incoming: Incoming, diagnosis: Diagnosis, over: anyio.Event) -> None:
    lines = Lines()

    async def take(chunk: Chunk) -> None:
        if chunk.source is Source.STDERR:
            diagnosis.complain(chunk.data)
            return
        for line in lines.feed(chunk.data):
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                # Some servers greet on standard output.
                log.info("not a message", extra={"line": line[:200].decode("utf-8", "replace")})
                continue
            await incoming.send(SessionMessage(message))

    # The stream's end is what tells the session that the server is gone.
    async with incoming:
        try:
            diagnosis.ended = await process.follow(take)
        except _CLOSED:
            return
        except SandboxError as error:
            diagnosis.error = error
        finally:
            over.set()


async def _write(
    process: Process,
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    incoming: Incoming,
    over: anyio.Event,
) -> None:
    async for each in outgoing:
        text = each.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            await process.write(text.encode("utf-8", "replace") + b"\n")
        except (SandboxFenced, SandboxLost):
            raise
        except SandboxError as error:
            log.info("the server takes no more messages", extra={"error": repr(error)})
            # Most often since it has ended: what it said, and how it ended, may still be on the way.
            with anyio.move_on_after(_LAST_WORDS):
                await over.wait()
            await incoming.aclose()
            return
