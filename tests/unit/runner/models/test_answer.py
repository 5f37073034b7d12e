"""Answers of the scripted model: shape by provider, and the same whole or streamed."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk, HumanMessage, message_chunk_to_message

from skerry_runner.models.scripted.answer import answer_of, chunks_of
from skerry_runner.models.scripted.schema import Step

ASK = [HumanMessage("four")]


def answer(**step: Any) -> Any:
    return answer_of(Step.model_validate(step), ASK, call_prefix="call_x")


@pytest.mark.parametrize(
    ("provider", "key", "plain", "calling", "name"),
    [
        ("openai", "finish_reason", "stop", "tool_calls", "openai"),
        ("anthropic", "stop_reason", "end_turn", "tool_use", "anthropic"),
        ("gemini", "finish_reason", "STOP", "STOP", "google_genai"),
    ],
)
def test_the_finish_reason_goes_where_the_provider_puts_it(
    provider: str, key: str, plain: str, calling: str, name: str
) -> None:
    assert answer(say="a", provider=provider).response_metadata[key] == plain
    assert answer(toolCalls=[{"name": "ls"}], provider=provider).response_metadata[key] == calling
    given = answer(say="a", provider=provider, finishReason="odd", metadata={"more": 1}).response_metadata
    assert (given[key], given["more"], given["model_provider"], given["model_name"]) == (
        "odd",
        1,
        name,
        "scripted",
    )


def test_thinking_stands_where_the_provider_puts_it() -> None:
    assert answer(say="a", thinking="hm").additional_kwargs == {"reasoning_content": "hm"}
    blocks = answer(say="a", thinking="hm", provider="anthropic").content
    assert blocks == [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}]


def test_calls_without_an_id_get_one_each() -> None:
    message = answer(toolCalls=[{"name": "a"}, {"name": "b", "id": "mine"}], invalidToolCalls=[{"name": "c"}])
    assert [call["id"] for call in message.tool_calls] == ["call_x_1", "mine"]
    assert [call["id"] for call in message.invalid_tool_calls] == ["call_x_3"]


def test_usage_is_given_or_estimated() -> None:
    assert answer(usage={"input": 5, "output": 2}).usage_metadata["total_tokens"] == 7
    estimated = answer(say="12345678").usage_metadata
    assert (estimated["input_tokens"], estimated["output_tokens"]) == (3, 2)  # "human: four" is 11 characters


@pytest.mark.parametrize(
    "step",
    [
        {"say": "some words  with\n\n spaces "},
        {"say": ""},
        {"say": "a", "thinking": "hm", "toolCalls": [{"name": "bash", "args": {"command": "echo 'é'"}}, {"name": "ls"}]},
        {"invalidToolCalls": [{"name": "write_file", "args": '{"path": "/a', "error": "cut"}], "toolCalls": [{"name": "ls"}]},
        {"say": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
        {"say": "a", "thinking": "hm", "provider": "anthropic", "toolCalls": [{"name": "ls"}]},
    ],
)  # fmt: skip
def test_the_chunks_make_the_same_message(step: dict[str, Any]) -> None:
    whole = answer(**step)
    first, *rest = chunks_of(whole)
    merged: AIMessageChunk = first
    for chunk in rest:
        merged += chunk
    assert merged.chunk_position == "last"
    built = message_chunk_to_message(merged)
    assert built.model_dump(exclude={"id"}) == whole.model_dump(exclude={"id"})
