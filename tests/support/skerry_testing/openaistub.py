"""An OpenAI-compatible endpoint on loopback that answers what a test says. HTTP/1.1, one answer a connection."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

__all__ = ["OpenAIStub", "StubRequest", "completion"]


@dataclass(frozen=True)
class StubRequest:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]


def completion(
    text: str = "", *, calls: list[dict[str, Any]] | None = None, finish: str = "stop"
) -> dict[str, Any]:
    """A chat completion of ten and five tokens."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = calls
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "stub",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }  # fmt: skip


@dataclass
class OpenAIStub:
    """`answers` are (status, JSON) in order; the last one repeats. Use as `async with`."""

    answers: list[tuple[int, dict[str, Any]]]
    requests: list[StubRequest] = field(default_factory=list)
    port: int = 0
    _server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
        }
        body = json.loads(await reader.readexactly(int(headers["content-length"])))
        self.requests.append(StubRequest(first.split(" ")[1], headers, body))
        status, answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        raw = json.dumps(answer).encode()
        head = f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {len(raw)}\r\nconnection: close\r\n\r\n"
        writer.write(head.encode() + raw)
        await writer.drain()
        writer.close()
        await writer.wait_closed()
