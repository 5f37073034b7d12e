"""Events of sandboxd: bytes survive JSON, lines parse to their types."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from skerry_api.sandboxd_events import (
    Event,
    ExitEvent,
    GapEvent,
    LostEvent,
    OutputEvent,
    PingEvent,
    StartedEvent,
    decode_bytes,
    encode_bytes,
    parse_event,
)


@pytest.mark.parametrize("raw", [b"", b"text", "ü€😀\x00\r\n".encode(), b"\xff\xfe", b"half \xc3"])
def test_bytes_survive(raw: bytes) -> None:
    data, encoding = encode_bytes(raw)
    assert decode_bytes(data, encoding) == raw
    event = parse_event(OutputEvent.of("stderr", 7, raw).model_dump_json(by_alias=True))
    assert isinstance(event, OutputEvent)
    assert (event.type, event.offset, event.raw) == ("stderr", 7, raw)


def test_text_stays_readable() -> None:
    assert encode_bytes("grüß".encode()) == ("grüß", "utf-8")


def test_broken_base64_is_an_error() -> None:
    with pytest.raises(ValueError, match="base64"):
        decode_bytes("***", "base64")


@pytest.mark.parametrize(
    "event",
    [
        StartedEvent(key="k", pid=5),
        GapEvent(offset=4, dropped_bytes=10),
        ExitEvent(code=0, duration_ms=5),
        ExitEvent(signal="SIGKILL", timed_out=True, duration_ms=5),
        LostEvent(message="m"),
        PingEvent(),
    ],
)
def test_round_trip(event: Event) -> None:
    line = event.model_dump_json(by_alias=True, exclude_none=True)
    assert "\n" not in line
    assert parse_event(line) == event


@pytest.mark.parametrize("line", ["", "{}", "[]", '{"type": "boom"}', '{"type": "exit"}'])
def test_bad_lines(line: str) -> None:
    with pytest.raises(ValidationError):
        parse_event(line)
