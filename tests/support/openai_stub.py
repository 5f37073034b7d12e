"""A stand-in for an OpenAI-compatible server: chat completions, streamed or whole, with tool calls and errors.

It plays a list of replies, one per request, or, without one, calls the first offered tool it knows and then answers
with what came back. Also to be run by hand: `python openai_stub.py --bind ADDRESS:PORT [--replies FILE.json]`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

__all__ = ["Reply", "Stub"]

Json = dict[str, Any]
DEFAULT_CALLS = {"bash": {"command": "echo hello from the sandbox; uname -s"}, "ls": {}}


@dataclass(frozen=True)
class Reply:
    """One answer. With `status` other than 200 it is an error and the rest but `retry_after` does not count."""

    content: str = ""
    tool_calls: tuple[tuple[str, Json], ...] = ()
    finish_reason: str | None = None
    """By default `tool_calls` or `stop`, as fits."""
    status: int = 200
    error: str = "server error"
    retry_after: int | None = None
    delay_seconds: float = 0

    @classmethod
    def read(cls, raw: Json) -> Reply:
        """From JSON: the same names, tool calls as `{"name": …, "arguments": {…}}`. Raises TypeError, KeyError."""
        calls = tuple((call["name"], call.get("arguments", {})) for call in raw.get("tool_calls", ()))
        return cls(**{**raw, "tool_calls": calls})


@dataclass
class Stub:
    """`requests` holds the body of each request, in order; `keys` what stood in their Authorization headers."""

    replies: Iterable[Reply] | None = None
    requests: list[Json] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._replies = None if self.replies is None else iter(self.replies)

    def app(self) -> Starlette:
        models = {"object": "list", "data": [{"id": "stub", "object": "model"}]}

        async def list_models(_: Request) -> Response:
            return JSONResponse(models)

        return Starlette(
            routes=[
                Route("/v1/chat/completions", self._complete, methods=["POST"]),
                Route("/v1/models", list_models),
            ]
        )

    async def _complete(self, request: Request) -> Response:
        body: Json = await request.json()
        self.requests.append(body)
        self.keys.append(request.headers.get("authorization", "").removeprefix("Bearer "))
        reply = _improvise(body) if self._replies is None else next(self._replies, None)
        if reply is None:
            reply = Reply(status=500, error="the stub has no reply left")
        await asyncio.sleep(reply.delay_seconds)
        if reply.status != 200:
            headers = {} if reply.retry_after is None else {"retry-after": str(reply.retry_after)}
            error = {"error": {"message": reply.error, "type": "stub", "code": None}}
            return JSONResponse(error, reply.status, headers)
        number = len(self.requests)
        if body.get("stream"):
            lines = _stream(reply, number, body)
            return StreamingResponse(lines, media_type="text/event-stream")
        return JSONResponse(_whole(reply, number, body))


def _improvise(body: Json) -> Reply:
    last = body["messages"][-1]
    if last["role"] == "tool":
        return Reply(content=f"The tool said: {last['content']}")
    offered = [tool["function"]["name"] for tool in body.get("tools", ())]
    calls = tuple((name, DEFAULT_CALLS[name]) for name in offered if name in DEFAULT_CALLS)[:1]
    return Reply(content="Let me look.", tool_calls=calls) if calls else Reply(content="I have no tools.")


def _finish(reply: Reply) -> str:
    return reply.finish_reason or ("tool_calls" if reply.tool_calls else "stop")


def _calls(reply: Reply, number: int) -> list[Json]:
    return [
        {
            "index": index,
            "id": f"call_{number}_{index}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for index, (name, arguments) in enumerate(reply.tool_calls)
    ]


def _usage(reply: Reply, body: Json) -> Json:
    # Words are near enough to tokens for a stand-in, and the same every time.
    given, made = len(json.dumps(body["messages"]).split()), len(reply.content.split()) + 1
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def _whole(reply: Reply, number: int, body: Json) -> Json:
    message: Json = {"role": "assistant", "content": reply.content or None}
    if reply.tool_calls:
        message["tool_calls"] = _calls(reply, number)
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply)}
    return _envelope("chat.completion", number, body) | {"choices": [choice], "usage": _usage(reply, body)}


def _envelope(kind: str, number: int, body: Json) -> Json:
    return {"id": f"stub-{number}", "object": kind, "created": 0, "model": body.get("model", "stub")}


async def _stream(reply: Reply, number: int, body: Json) -> AsyncIterator[str]:
    envelope = _envelope("chat.completion.chunk", number, body)

    def event(delta: Json, finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return f"data: {json.dumps(envelope | {'choices': [choice]})}\n\n"

    yield event({"role": "assistant", "content": ""})
    for position, word in enumerate(reply.content.split(" ")):
        yield event({"content": f" {word}" if position else word})
    for call in _calls(reply, number):
        # As servers do it: the name first, the arguments in pieces.
        arguments = call["function"]["arguments"]
        yield event(
            {"tool_calls": [call | {"function": {"name": call["function"]["name"], "arguments": ""}}]}
        )
        for piece in (arguments[:7], arguments[7:]):
            yield event({"tool_calls": [{"index": call["index"], "function": {"arguments": piece}}]})
    yield event({}, _finish(reply))
    if (body.get("stream_options") or {}).get("include_usage"):
        yield f"data: {json.dumps(envelope | {'choices': [], 'usage': _usage(reply, body)})}\n\n"
    yield "data: [DONE]\n\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bind", default="127.0.0.1:8000", metavar="ADDRESS:PORT")
    parser.add_argument("--replies", type=Path, help="JSON list of replies; without it the stub improvises")
    options = parser.parse_args()
    host, _, port = options.bind.rpartition(":")
    replies = None
    if options.replies:
        replies = [Reply.read(raw) for raw in json.loads(options.replies.read_text(encoding="utf-8"))]
    uvicorn.run(Stub(replies).app(), host=host, port=int(port))
    return 0


if __name__ == "__main__":
    sys.exit(main())
