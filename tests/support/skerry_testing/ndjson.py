"""Read sandboxd's event streams in tests of its wire."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx

from skerry_api.sandboxd_events import Event, ExitEvent, LostEvent, OutputEvent, parse_event

__all__ = ["end_of", "events_of", "execute", "follow", "output_of"]


def events_of(body: bytes) -> list[Event]:
    return [parse_event(line) for line in body.splitlines()]


def output_of(events: list[Event]) -> bytes:
    return b"".join(event.raw for event in events if isinstance(event, OutputEvent))


def end_of(events: list[Event]) -> ExitEvent | LostEvent:
    end = events[-1]
    assert isinstance(end, ExitEvent | LostEvent), end
    return end


async def execute(client: httpx.AsyncClient, key: str, command: str, **fields: Any) -> list[Event]:
    """Over the unix socket, to the end."""
    response = await client.post("/v1/executions", json={"key": key, "command": command} | fields)
    assert response.status_code == 200, response.text
    return events_of(response.content)


async def follow(response: httpx.Response) -> AsyncIterator[Event]:
    async for line in response.aiter_lines():
        yield parse_event(line)
