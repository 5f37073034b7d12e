"""`skerry exec`: a command in a sandbox, its streams joined to ours. It is killed when we go."""

from __future__ import annotations

import asyncio
import os
import secrets
import shlex
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, suppress
from typing import Literal, Self

from skerry_api.sandboxd_api import ProcessRequest, StdinResult
from skerry_api.sandboxd_events import ExitEvent, GapEvent, LostEvent, OutputEvent
from skerry_cli.bridge import Door, Refused
from skerry_cli.entry import by_kubectl, entered
from skerry_cli.kubectl import Kubectl, KubectlError
from skerry_runner.sandbox.errors import SandboxProtocolError
from skerry_runner.sandbox.stream import read_events

__all__ = ["Command", "execute", "exit_code"]

LOST = 1
_CHUNK = 256 * 1024

Sink = Callable[[Literal["stdout", "stderr"], bytes], None]


def execute(
    name: str, command: Sequence[str], namespace: str | None, context: str | None, *, stdin: bool
) -> int:
    """The command's own exit code, 128 and the signal's number for one that was killed, 2: it could not be run."""
    return by_kubectl(lambda kubectl: _execute(kubectl, name, command, stdin=stdin), namespace, context)


async def _execute(kubectl: Kubectl, name: str, command: Sequence[str], *, stdin: bool) -> int:
    async with entered(kubectl, name) as (door, _):
        request = ProcessRequest(key=f"exec-{secrets.token_hex(8)}", command=shlex.join(command))
        async with Command(door, request, _print) as running:
            return exit_code(await running.end(_stdin() if stdin else None))


class Command:
    """A process of sandboxd's that lives as long as this context."""

    def __init__(self, door: Door, request: ProcessRequest, sink: Sink) -> None:
        self._door, self._request, self._sink = door, request, sink
        self._path = f"/v1/processes/{request.key}"
        self._over = False

    async def __aenter__(self) -> Self:
        await self._door.call(
            "POST", "/v1/processes", content=self._request.model_dump_json(by_alias=True).encode()
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if not self._over:
            with suppress(KubectlError, Refused):
                await self._door.call("DELETE", self._path, graceSeconds=2)

    async def end(self, stdin: AsyncIterator[bytes] | None) -> ExitEvent | LostEvent:
        """Feed it, show what it says, and wait for its end."""
        feeding = asyncio.create_task(self._feed(stdin))
        try:
            return await self._follow()
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)

    async def _follow(self) -> ExitEvent | LostEvent:
        try:
            async with (
                self._door.stream("GET", f"{self._path}/output") as answer,
                aclosing(read_events(answer.aiter_bytes())) as events,
            ):
                async for event in events:
                    if isinstance(event, OutputEvent):
                        self._sink(event.type, event.raw)
                    elif isinstance(event, GapEvent):
                        lost = f"skerry: {event.dropped_bytes} bytes of output are lost\n"
                        self._sink("stderr", lost.encode())
                    elif isinstance(event, ExitEvent | LostEvent):
                        self._over = True
                        return event
        except SandboxProtocolError as error:
            raise KubectlError(str(error)) from error
        raise KubectlError("the sandbox ended before the command did")

    async def _feed(self, chunks: AsyncIterator[bytes] | None) -> None:
        offset = 0
        with suppress(Refused):  # It closed its input, or has ended.
            async for chunk in chunks or _nothing():
                offset = await self._write(chunk, offset)
            await self._door.call("POST", f"{self._path}/stdin", offset=offset, eof="true")

    async def _write(self, chunk: bytes, offset: int) -> int:
        end = offset + len(chunk)
        while offset < end:
            answer = await self._door.call(
                "POST", f"{self._path}/stdin", content=chunk[len(chunk) - (end - offset) :], offset=offset
            )
            offset = StdinResult.model_validate_json(answer.content).offset
        return offset


def exit_code(end: ExitEvent | LostEvent) -> int:
    """As a shell would give it."""
    if isinstance(end, LostEvent):
        print(f"skerry: {end.message}", file=sys.stderr)
        return LOST
    if end.code is not None:
        return end.code
    return 128 + int(signal.Signals[end.signal or "SIGKILL"])


def _print(stream: Literal["stdout", "stderr"], data: bytes) -> None:
    out = (sys.stdout if stream == "stdout" else sys.stderr).buffer
    out.write(data)
    out.flush()


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""


async def _stdin() -> AsyncIterator[bytes]:
    """Read in a thread that may be left behind: nothing can wake a read of a terminal."""
    loop, queue, room = asyncio.get_running_loop(), asyncio.Queue[bytes](), threading.Semaphore(2)

    def read() -> None:
        with suppress(RuntimeError):  # The loop is gone.
            data = b"-"
            while data:
                room.acquire()
                data = os.read(0, _CHUNK)
                loop.call_soon_threadsafe(queue.put_nowait, data)

    threading.Thread(target=read, daemon=True).start()
    while data := await queue.get():
        yield data
        room.release()
