"""What the stand-in for an OpenAI-compatible server answers, and how that looks on the wire. Standard library alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

__all__ = ["SCENARIOS", "Json", "Reply", "improvised", "stream_events", "unpaired", "whole"]

Json = dict[str, Any]
DEFAULT_CALLS: dict[str, Json] = {"bash": {"command": "echo hello from the sandbox; uname -s"}, "ls": {}}


@dataclass(frozen=True)
class Reply:
    """One answer. With a `status` other than 200 it is an error: then only `error`, `code` and headers count."""

    content: str = ""
    tool_calls: tuple[tuple[str, Json], ...] = ()
    finish_reason: str | None = None
    """By default `tool_calls` or `stop`, as fits."""
    cut_arguments_at: int | None = None
    """The last call's arguments end after so many characters, as when a filter or a limit cuts an answer."""
    no_choices: bool = False
    """A well-formed response without any answer in it."""
    status: int = 200
    error: str = "server error"
    code: str | None = None
    retry_after: float | str | None = None
    """Seconds, or an HTTP date."""
    headers: Json = field(default_factory=dict)
    delay_seconds: float = 0
    """Before the first byte."""
    chunk_delay_seconds: float = 0
    """Before each event of a stream."""
    reset_after: int | None = None
    """The connection is reset (RST) after so many events; 0: before anything is said."""
    stall_after: int | None = None
    """Nothing more comes after so many events, and the connection stays open."""
    error_after: int | None = None
    """An error event comes in the stream after so many events, though its status was 200."""
    times: int = 1
    """How often it is given before the next one."""

    @classmethod
    def read(cls, raw: Json) -> Reply:
        """From JSON: the same names, tool calls as `{"name": …, "arguments": {…}}`. Raises TypeError, KeyError."""
        calls = tuple((call["name"], call.get("arguments", {})) for call in raw.get("tool_calls", ()))
        return cls(**{**raw, "tool_calls": calls})

    def error_headers(self) -> dict[str, str]:
        named = {name.lower(): str(value) for name, value in self.headers.items()}
        return named if self.retry_after is None else {**named, "retry-after": f"{self.retry_after}"}

    def error_body(self) -> Json:
        return {"error": {"message": self.error, "type": "stub", "code": self.code}}


SCENARIOS: dict[str, tuple[Reply, ...]] = {
    "rough": (
        Reply(status=429, error="slow down", code="rate_limit_exceeded", retry_after=1),
        Reply(status=500),
        Reply(
            content="Let me look.",
            tool_calls=(("bash", {"command": "echo rough"}),),
            chunk_delay_seconds=0.05,
        ),
        Reply(content="I was going to say", reset_after=3),
        Reply(content="All is well again.", chunk_delay_seconds=0.05),
    ),
    "filtered": (
        Reply(
            content="I will write it.",
            tool_calls=(("write_file", {"path": "/mnt/user-data/outputs/a", "content": "half a text"}),),
            cut_arguments_at=60,
            finish_reason="content_filter",
        ),
    ),
    "down": (Reply(status=503, error="down for maintenance", times=1_000_000),),
}
"""Scripts with names, for use by hand and in Pods."""


def unpaired(messages: list[Json]) -> str | None:
    """Why a provider refuses this history; None if behind each message with calls stand their results alone."""
    due: list[str] = []
    for place, message in enumerate(messages):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in due:
                return f"messages[{place}]: a result without a call right before it"
            due.remove(message["tool_call_id"])
        elif due:
            return f"messages[{place}]: the results of {', '.join(due)} must stand before it"
        elif message["role"] == "assistant":
            due = [call["id"] for call in message.get("tool_calls") or ()]
    return f"the results of {', '.join(due)} are missing" if due else None


def improvised(body: Json) -> Reply:
    """Call the first offered tool it knows, then answer with what came back."""
    last = body["messages"][-1]
    if last["role"] == "tool":
        return Reply(content=f"The tool said: {last['content']}")
    offered = [tool["function"]["name"] for tool in body.get("tools", ())]
    calls = tuple((name, DEFAULT_CALLS[name]) for name in offered if name in DEFAULT_CALLS)[:1]
    return Reply(content="Let me look.", tool_calls=calls) if calls else Reply(content="I have no tools.")


def _finish(reply: Reply) -> str:
    return reply.finish_reason or ("tool_calls" if reply.tool_calls else "stop")


def _calls(reply: Reply, number: int) -> list[Json]:
    arguments = [json.dumps(given) for _, given in reply.tool_calls]
    if arguments and reply.cut_arguments_at is not None:
        arguments[-1] = arguments[-1][: reply.cut_arguments_at]
    return [
        {
            "index": index,
            "id": f"call_{number}_{index}",
            "type": "function",
            "function": {"name": name, "arguments": arguments[index]},
        }
        for index, (name, _) in enumerate(reply.tool_calls)
    ]


def _usage(reply: Reply, body: Json) -> Json:
    # Words are near enough to tokens for a stand-in, and the same every time.
    given, made = len(json.dumps(body["messages"]).split()), len(reply.content.split()) + 1
    return {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}


def _envelope(kind: str, number: int, body: Json) -> Json:
    return {"id": f"stub-{number}", "object": kind, "created": 0, "model": body.get("model", "stub")}


def whole(reply: Reply, number: int, body: Json) -> Json:
    """A response that is not streamed; `number` counts requests from 1."""
    message: Json = {"role": "assistant", "content": reply.content or None}
    if reply.tool_calls:
        message["tool_calls"] = _calls(reply, number)
    choices = [] if reply.no_choices else [{"index": 0, "message": message, "finish_reason": _finish(reply)}]
    return _envelope("chat.completion", number, body) | {"choices": choices, "usage": _usage(reply, body)}


def stream_events(reply: Reply, number: int, body: Json) -> Iterator[str]:
    """The data of each event of a stream, in order."""
    envelope = _envelope("chat.completion.chunk", number, body)

    def event(delta: Json, finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return json.dumps(envelope | {"choices": [choice]})

    if not reply.no_choices:
        yield event({"role": "assistant", "content": ""})
        for position, word in enumerate(reply.content.split(" ")):
            yield event({"content": f" {word}" if position else word})
        for call in _calls(reply, number):
            # As servers do it: the name first, the arguments in pieces.
            function, arguments = call["function"], call["function"]["arguments"]
            yield event({"tool_calls": [call | {"function": {"name": function["name"], "arguments": ""}}]})
            for piece in (arguments[:7], arguments[7:]):
                yield event({"tool_calls": [{"index": call["index"], "function": {"arguments": piece}}]})
        yield event({}, _finish(reply))
    if (body.get("stream_options") or {}).get("include_usage"):
        yield json.dumps(envelope | {"choices": [], "usage": _usage(reply, body)})
    yield "[DONE]"
