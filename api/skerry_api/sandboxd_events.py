"""What a stream of sandboxd says, one JSON object a line (NDJSON).

Bytes inside JSON are UTF-8 text when they are valid UTF-8 and base64 otherwise; `encoding` says which.
"""

from __future__ import annotations

import base64
import binascii
from typing import Annotated, Final, Literal, Self

from pydantic import Field, TypeAdapter

from skerry_api.base import KubeModel

__all__ = [
    "CONTENT_NDJSON", "KEEP_ALIVE_SECONDS", "Encoding", "Event", "ExitEvent", "GapEvent", "LostEvent",
    "OutputEvent", "OutputStream", "PingEvent", "StartedEvent", "WireBytes", "decode_bytes", "encode_bytes",
    "parse_event",
]  # fmt: skip

CONTENT_NDJSON: Final = "application/x-ndjson"
# A stream is never silent for longer than this: a reader may call it dead after a few of them.
KEEP_ALIVE_SECONDS: Final = 15.0

Encoding = Literal["utf-8", "base64"]
OutputStream = Literal["stdout", "stderr"]


def encode_bytes(raw: bytes) -> tuple[str, Encoding]:
    """Text if `raw` is valid UTF-8, else base64."""
    try:
        return raw.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return base64.b64encode(raw).decode("ascii"), "base64"


def decode_bytes(data: str, encoding: Encoding) -> bytes:
    """Inverse of `encode_bytes`. Raises ValueError."""
    if encoding == "utf-8":
        return data.encode("utf-8")
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error as error:
        raise ValueError("data is not base64") from error


class WireBytes(KubeModel):
    """Bytes as they travel inside JSON."""

    data: str
    encoding: Encoding = "utf-8"

    @property
    def raw(self) -> bytes:
        """The bytes themselves. Raises ValueError if base64 is broken."""
        return decode_bytes(self.data, self.encoding)


class StartedEvent(KubeModel):
    type: Literal["started"] = "started"
    key: str
    pid: int


class OutputEvent(WireBytes):
    """Bytes of one stream. `offset` counts the retained bytes of both streams; the next is offset + len(raw)."""

    type: OutputStream
    offset: int

    @classmethod
    def of(cls, stream: OutputStream, offset: int, raw: bytes) -> Self:
        data, encoding = encode_bytes(raw)
        return cls(type=stream, offset=offset, data=data, encoding=encoding)


class GapEvent(KubeModel):
    """`droppedBytes` of output stood here and were not kept (cap reached, or no longer retained)."""

    type: Literal["gap"] = "gap"
    offset: int
    dropped_bytes: int


class ExitEvent(KubeModel):
    """The end. Exactly one of `code` and `signal` (a name such as SIGKILL) is set.

    `timedOut`: sandboxd ended it at its timeout; `killed`: by a DELETE or at shutdown.
    """

    type: Literal["exit"] = "exit"
    code: int | None = None
    signal: str | None = None
    timed_out: bool = False
    killed: bool = False
    truncated: bool = False
    duration_ms: int = Field(ge=0)


class LostEvent(KubeModel):
    """How it ended is unknown: the command was started once, may have run in part, and will not run again."""

    type: Literal["lost"] = "lost"
    message: str


class PingEvent(KubeModel):
    type: Literal["ping"] = "ping"


Event = StartedEvent | OutputEvent | GapEvent | ExitEvent | LostEvent | PingEvent
_EVENTS: Final[TypeAdapter[Event]] = TypeAdapter(Annotated[Event, Field(discriminator="type")])


def parse_event(line: str | bytes) -> Event:
    """One NDJSON line to an event. Raises pydantic.ValidationError."""
    return _EVENTS.validate_json(line)
