"""A command's event stream: from bytes to events to a result, resumable and bounded."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final

from pydantic import ValidationError

from skerry_api.sandboxd_events import (
    Event,
    ExitEvent,
    GapEvent,
    LostEvent,
    OutputEvent,
    parse_event,
)
from skerry_runner.sandbox.collector import Collector
from skerry_runner.sandbox.errors import CommandLost, SandboxProtocolError
from skerry_runner.sandbox.types import Chunk, ExecResult, OutputHandler, Source

__all__ = ["CommandStream", "read_events"]

_MAX_LINE: Final = 2 * 1024 * 1024


async def read_events(parts: AsyncIterator[bytes]) -> AsyncGenerator[Event, None]:
    """Events of an NDJSON stream; an unfinished last line is dropped. Raises SandboxProtocolError."""
    rest = b""
    async for part in parts:
        *lines, rest = (rest + part).split(b"\n")
        if len(rest) > _MAX_LINE:
            raise SandboxProtocolError(f"the sandbox sent a line of more than {_MAX_LINE} bytes")
        for line in lines:
            if line.strip():
                yield _parse(line)


def _parse(line: bytes) -> Event:
    try:
        return parse_event(line)
    except ValidationError as error:
        raise SandboxProtocolError("the sandbox sent an event that can't be read") from error


class CommandStream:
    """One command's output over as many connections as it takes."""

    def __init__(self, cap: int, on_output: OutputHandler | None) -> None:
        self._collector = Collector(cap, on_output)
        # A sandboxd that keeps to the cap stays well below this; one that doesn't is not listened to for ever.
        self._budget = 2 * cap + 1024 * 1024
        self.offset = 0
        self._gap_seen = False

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        return self._collector.chunks()

    def feed(self, event: Event) -> ExecResult | None:
        """Take one event; the result with the last. Raises CommandLost, SandboxProtocolError."""
        match event:
            case OutputEvent():
                self._output(event)
            case GapEvent():
                # Told again to a reader who comes back right at it.
                if not self._gap_seen:
                    self._collector.feed(Chunk(Source.GAP, dropped=max(0, event.dropped_bytes)))
                self._gap_seen = True
            case ExitEvent():
                return ExecResult(
                    exit_code=event.code,
                    signal=event.signal,
                    chunks=self.chunks,
                    duration_ms=event.duration_ms,
                    timed_out=event.timed_out,
                    killed=event.killed,
                )
            case LostEvent():
                raise CommandLost(f"How the command ended is unknown: {event.message[:500]}")
            case _:
                pass
        return None

    def _output(self, event: OutputEvent) -> None:
        try:
            data = event.raw
        except ValueError as error:
            raise SandboxProtocolError("the sandbox sent output that can't be decoded") from error
        if event.offset > self.offset or event.offset + len(data) < self.offset:
            raise SandboxProtocolError("the sandbox's output does not join on")
        data = data[self.offset - event.offset :]
        self.offset += len(data)
        if self.offset > self._budget:
            raise SandboxProtocolError("the sandbox sends more output than was asked for")
        if data:
            self._collector.feed(Chunk(Source(event.type), data))
