"""The rendered request, and expectations on it."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage

from skerry_runner.models.scripted.expect import mismatches
from skerry_runner.models.scripted.render import render_request
from skerry_runner.models.scripted.schema import Expect

MESSAGES: list[AnyMessage] = [
    SystemMessage("Be good."),
    HumanMessage("Do\nit"),
    AIMessage(
        "On it",
        tool_calls=[{"name": "bash", "args": {"command": "echo é"}, "id": "1"}],
        invalid_tool_calls=[
            {"name": "ls", "args": "{", "id": "2", "error": None, "type": "invalid_tool_call"}
        ],
    ),
    ToolMessage("é", name="bash", tool_call_id="1"),
    ToolMessage("no", name="ls", tool_call_id="2", status="error"),
]


def test_a_request_is_one_text() -> None:
    assert render_request(MESSAGES) == (
        "system: Be good.\nhuman: Do\nit\nai: On it\n"
        'ai: call bash {"command": "echo é"}\nai: call ls {\n'
        "tool: bash (success): é\ntool: ls (error): no"
    )


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "text", "text": "a"}, "a"),
        ({"type": "thinking", "thinking": "hm"}, "hm"),
        ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}, "[image image/png 3]"),
        ({"type": "image", "base64": "AAA=", "mime_type": "image/webp"}, "[image image/webp 2]"),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "AA=="}}, "[image image/gif 1]"),
        ({"type": "image_url", "image_url": "https://x/y.png"}, "[image ? 0]"),
        ({"type": "audio"}, "[audio]"),
        ({"type": "tool_use", "name": "x"}, ""),
    ],
)  # fmt: skip
def test_content_blocks_are_shown(block: dict[str, Any], text: str) -> None:
    assert render_request([HumanMessage([block])]) == f"human: {text}"


@pytest.mark.parametrize(
    ("expect", "wrong"),
    [
        ({}, []),
        ({"contains": ["echo .", "^human: Do"], "lastRole": "tool"}, ["contains '^human: Do': nothing matches"]),
        ({"contains": ["(?m)^human: Do"], "absent": ["secret"]}, []),
        ({"absent": ["Be \\w+"]}, ["absent 'Be \\\\w+': matches 'Be good'"]),
        ({"tools": {"include": ["bash"], "exclude": ["rm"]}}, []),
        ({"tools": {"include": ["rm"], "exclude": ["bash"]}},
         ["tools.include rm: not bound (bound: bash, ls)", "tools.exclude bash: bound"]),
        ({"lastRole": "human"}, ["lastRole human: it is tool"]),
    ],
)  # fmt: skip
def test_expectations(expect: dict[str, Any], wrong: list[str]) -> None:
    assert mismatches(Expect.model_validate(expect), MESSAGES, ["bash", "ls"]) == wrong


def test_nothing_was_said_yet() -> None:
    assert mismatches(Expect.model_validate({"lastRole": "ai"}), [], []) == ["lastRole ai: it is none"]
