"""A step's answer as the message that its provider would send, whole or in chunks. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, InvalidToolCall, ToolCall
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import invalid_tool_call, tool_call, tool_call_chunk

from skerry_runner.messages import render_content
from skerry_runner.models.scripted.render import render_request
from skerry_runner.models.scripted.schema import Provider, Step

__all__ = ["answer_of", "chunks_of"]

_PROVIDER_NAMES = {
    Provider.OPENAI: "openai",
    Provider.ANTHROPIC: "anthropic",
    Provider.GEMINI: "google_genai",
}
_FINISH_KEYS = {
    Provider.OPENAI: "finish_reason",
    Provider.ANTHROPIC: "stop_reason",
    Provider.GEMINI: "finish_reason",
}
_FINISH = {
    Provider.OPENAI: ("stop", "tool_calls"),
    Provider.ANTHROPIC: ("end_turn", "tool_use"),
    Provider.GEMINI: ("STOP", "STOP"),
}
_CHARS_PER_TOKEN = 4


def answer_of(step: Step, messages: Sequence[BaseMessage], *, call_prefix: str) -> AIMessage:
    """The whole answer. Calls without an id get `{call_prefix}_{n}`; usage is estimated where the step gives none."""
    calls: list[ToolCall] = [
        tool_call(name=call.name, args=dict(call.args), id=call.id or f"{call_prefix}_{n}")
        for n, call in enumerate(step.tool_calls, start=1)
    ]
    invalid: list[InvalidToolCall] = [
        invalid_tool_call(
            name=call.name, args=call.args, id=call.id or f"{call_prefix}_{n}", error=call.error
        )
        for n, call in enumerate(step.invalid_tool_calls, start=len(calls) + 1)
    ]
    plain, with_calls = _FINISH[step.provider]
    finish = step.finish_reason or (with_calls if calls or invalid else plain)
    content, kwargs = _content(step)
    return AIMessage(
        content=content,
        additional_kwargs=kwargs,
        tool_calls=calls,
        invalid_tool_calls=invalid,
        usage_metadata=_usage(step, messages),
        response_metadata={
            _FINISH_KEYS[step.provider]: finish,
            "model_name": "scripted",
            "model_provider": _PROVIDER_NAMES[step.provider],
            **step.metadata,
        },
    )


def chunks_of(message: AIMessage) -> Iterator[AIMessageChunk]:
    """The answer in pieces; put together again they are the same message."""
    common: dict[str, Any] = {
        "usage_metadata": message.usage_metadata,
        "response_metadata": message.response_metadata,
        "chunk_position": "last",
    }
    if message.invalid_tool_calls or not isinstance(message.content, str):
        # In one piece: LangChain parses merged call chunks anew and would mend arguments that are meant to be broken.
        yield AIMessageChunk(
            content=message.content,
            additional_kwargs=message.additional_kwargs,
            tool_calls=message.tool_calls,
            invalid_tool_calls=message.invalid_tool_calls,
            **common,
        )
        return
    if message.additional_kwargs:
        yield AIMessageChunk(content="", additional_kwargs=message.additional_kwargs)
    for piece in re.findall(r"\s*\S+\s*|\s+", message.content):
        yield AIMessageChunk(content=piece)
    for index, call in enumerate(message.tool_calls):
        text = json.dumps(call["args"], ensure_ascii=False)
        half = len(text) // 2
        yield AIMessageChunk(
            content="",
            tool_call_chunks=[
                tool_call_chunk(name=call["name"], args=text[:half], id=call["id"], index=index)
            ],
        )
        yield AIMessageChunk(
            content="", tool_call_chunks=[tool_call_chunk(name=None, args=text[half:], id=None, index=index)]
        )
    yield AIMessageChunk(content="", **common)


def _content(step: Step) -> tuple[str | list[str | dict[Any, Any]], dict[str, Any]]:
    blocks: list[str | dict[Any, Any]] = list(step.say) if isinstance(step.say, list) else []
    if step.thinking is None:
        return (blocks if isinstance(step.say, list) else step.say), {}
    if step.provider is Provider.OPENAI:
        # OpenAI-compatible servers put it beside the content.
        return (blocks if isinstance(step.say, list) else step.say), {"reasoning_content": step.thinking}
    if isinstance(step.say, str) and step.say:
        blocks = [{"type": "text", "text": step.say}]
    return [{"type": "thinking", "thinking": step.thinking}, *blocks], {}


def _usage(step: Step, messages: Sequence[BaseMessage]) -> UsageMetadata:
    if step.usage is not None:
        sent, said = step.usage.input, step.usage.output
    else:
        calls = "".join(call.name + json.dumps(call.args) for call in step.tool_calls)
        spoken = render_content(step.say) + (step.thinking or "") + calls
        sent, said = _tokens(render_request(messages)), _tokens(spoken)
    return UsageMetadata(input_tokens=sent, output_tokens=said, total_tokens=sent + said)


def _tokens(text: str) -> int:
    return -(-len(text) // _CHARS_PER_TOKEN)
