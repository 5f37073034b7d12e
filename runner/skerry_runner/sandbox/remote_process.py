"""A process of a remote sandbox, over sandboxd's /v1/processes."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import aclosing
from typing import Final

from pydantic import ValidationError
from typing_extensions import override

from skerry_api.sandboxd_api import ProcessRequest, Reason, StdinResult
from skerry_api.sandboxd_events import Event, ExitEvent, GapEvent, LostEvent, OutputEvent
from skerry_runner.sandbox.errors import (
    CommandLost,
    InvalidCall,
    ProcessEnded,
    SandboxError,
    SandboxProtocolError,
    SandboxRefused,
)
from skerry_runner.sandbox.process import OnOutput, Process
from skerry_runner.sandbox.stream import read_events
from skerry_runner.sandbox.types import Chunk, Source
from skerry_runner.sandbox.wire import Attempt, Call, Transient, Wire

__all__ = ["RemoteProcess", "start_remote"]

_LOG: Final = logging.getLogger(__name__)
_MAX_JSON: Final = 1024 * 1024
_MAX_WRITE: Final = 256 * 1024
_END_SECONDS: Final = 5.0
_GONE: Final = (Reason.ENDED, Reason.NOT_FOUND)
_MAX_STARTS: Final = 10_000


async def start_remote(
    wire: Wire, name: str, command: str, *, cwd: str | None, env: Mapping[str, str]
) -> "RemoteProcess":
    """Start it under the first free key of its name.

    An earlier runner may have died and left one: keys are numbered, and whatever has one of them is ended first.
    """
    for number in range(_MAX_STARTS):
        key = f"{name}~{number}"
        try:
            await wire.fetch(_kill(key), limit=_MAX_JSON)
        except SandboxRefused as refusal:
            if refusal.reason != Reason.NOT_FOUND:
                raise
            break
    else:
        raise SandboxProtocolError(f"the sandbox says that {_MAX_STARTS} processes are named {name}")
    try:
        request = ProcessRequest(key=key, command=command, cwd=cwd, env=dict(env))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        raise InvalidCall(f"{path}: {first['msg']}", path) from error
    body = request.model_dump_json(by_alias=True, exclude_none=True).encode("utf-8")
    await wire.fetch(Call("POST", "/v1/processes", body=body), limit=_MAX_JSON)
    return RemoteProcess(wire, key)


def _kill(key: str) -> Call:
    return Call("DELETE", f"/v1/processes/{key}", {"graceSeconds": "1"})


class RemoteProcess(Process):
    """Lost connections are taken up again where they broke, both ways."""

    def __init__(self, wire: Wire, key: str) -> None:
        self._wire = wire
        self._key = key
        self._read = 0
        self._written = 0
        self._writing = asyncio.Lock()

    @override
    async def follow(self, on_output: OnOutput) -> str:
        attempt = await self._wire.begin()
        while True:
            why = "its stream ended early"
            try:
                if (ended := await self._follow_once(attempt, on_output)) is not None:
                    return ended
            except Transient as error:
                why = str(error)
            except SandboxRefused as refusal:
                raise _ended(refusal) from refusal
            await self._wire.again(attempt, why)

    async def _follow_once(self, attempt: Attempt, on_output: OnOutput) -> str | None:
        call = Call("GET", f"/v1/processes/{self._key}/output", {"after": str(self._read)})
        ended = None
        async with (
            self._wire.send(attempt, call) as response,
            aclosing(read_events(response.aiter_raw())) as events,
        ):
            async for event in events:
                attempt.backoff.contact()
                if (chunk := self._chunk(event)) is not None:
                    await on_output(chunk)
                elif isinstance(event, ExitEvent):
                    ended = f"signal {event.signal}" if event.signal else f"exit code {event.code}"
        return ended

    def _chunk(self, event: Event) -> Chunk | None:
        if isinstance(event, LostEvent):
            raise CommandLost(f"How the process ended is unknown: {event.message[:500]}")
        if isinstance(event, GapEvent):
            raise SandboxProtocolError(f"{event.dropped_bytes} bytes of the process's output are lost")
        if not isinstance(event, OutputEvent):
            return None
        try:
            data = event.raw
        except ValueError as error:
            raise SandboxProtocolError("the sandbox sent output that can't be decoded") from error
        if not event.offset <= self._read <= event.offset + len(data):
            raise SandboxProtocolError("the sandbox's output does not join on")
        data = data[self._read - event.offset :]
        self._read += len(data)
        return Chunk(Source(event.type), data)

    @override
    async def write(self, data: bytes) -> None:
        async with self._writing:
            while data:
                # The offset makes a repeated write harmless.
                params = {"offset": str(self._written)}
                call = Call("POST", f"/v1/processes/{self._key}/stdin", params, data[:_MAX_WRITE])
                try:
                    _, answer = await self._wire.fetch(call, limit=_MAX_JSON)
                    now = StdinResult.model_validate_json(answer).offset
                except SandboxRefused as refusal:
                    raise _ended(refusal) from refusal
                except ValidationError as error:
                    raise SandboxProtocolError("the sandbox's answer is no StdinResult") from error
                taken = now - self._written
                if not 0 <= taken <= len(data):
                    raise SandboxProtocolError("the sandbox counts standard input wrongly")
                self._written, data = now, data[taken:]

    @override
    async def end(self) -> None:
        try:
            async with asyncio.timeout(_END_SECONDS):
                await self._wire.fetch(_kill(self._key), limit=_MAX_JSON)
        except (TimeoutError, SandboxError) as error:
            _LOG.info("end not confirmed", extra={"key": self._key, "error": repr(error)})


def _ended(refusal: SandboxRefused) -> SandboxError:
    return ProcessEnded(str(refusal)) if refusal.reason in _GONE else refusal
