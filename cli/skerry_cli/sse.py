"""Server-sent events out of lines, as far as our own stream uses them. Pure."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass

__all__ = ["ServerSentEvent", "server_sent_events", "stream_lines"]


@dataclass(frozen=True, slots=True)
class ServerSentEvent:
    """Source: the HTML standard, section "Server-sent events"."""

    data: str
    event: str = ""
    id: str = ""


async def server_sent_events(lines: AsyncIterator[str]) -> AsyncGenerator[ServerSentEvent, None]:
    """Events that came whole; comments and what a broken connection cut off are dropped."""
    fields: dict[str, str] = {}
    async for line in lines:
        if not line:
            if "data" in fields:
                yield ServerSentEvent(fields["data"], fields.get("event", ""), fields.get("id", ""))
            fields = {}
            continue
        name, _, value = line.partition(":")
        if name:
            fields[name] = value.removeprefix(" ")


async def stream_lines(parts: AsyncIterator[bytes]) -> AsyncGenerator[str, None]:
    """Lines that ended. Only at line feeds: str knows more ends of lines, such as U+2028, which JSON holds as they are."""
    rest = b""
    async for part in parts:
        *lines, rest = (rest + part).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r").decode(errors="replace")
