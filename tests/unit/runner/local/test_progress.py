from __future__ import annotations

import io
import json
from typing import Any

import pytest

from skerry_runner.local.progress import ProgressSink, told


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"type": "run.start", "name": "r", "model": "scripted"}, "run r with model scripted"),
        ({"type": "tool.call", "name": "bash", "args": '{"command": "ls"}'}, '→ bash {"command": "ls"}'),
        ({"type": "tool.result", "status": "success", "content": "a\nb\n"}, "← a b"),
        ({"type": "tool.result", "status": "error", "content": ""}, "✗ (nothing)"),
        ({"type": "tool.result", "status": "success", "content": "\x1b[2Jx"}, "← ·[2Jx"),
        ({"type": "model.response", "text": "plan", "toolCalls": [{}]}, "  plan"),
        ({"type": "model.response", "text": "the answer", "toolCalls": []}, None),
        (
            {"type": "loop.warning", "tools": ["ls", "bash"], "count": 3},
            "✗ the agent repeats itself: ls, bash, 3 times",
        ),
        ({"type": "loop.stop", "tools": ["ls"], "count": 5}, "✗ the agent is stopped: ls, 5 times"),
        ({"type": "model.request"}, None),
        ({"type": "script.unused", "steps": [1]}, "  1 step of the script was not played"),
        ({"type": "script.unused", "steps": [1, 2]}, "  2 steps of the script were not played"),
    ],
)
def test_told(event: dict[str, Any], words: str | None) -> None:
    assert told(event) == words


def test_long_texts_are_cut() -> None:
    words = told({"type": "tool.result", "status": "success", "content": "x" * 500})
    assert words is not None
    assert (len(words), words[-1]) == (102, "…")


def test_the_sink_writes_a_line_for_what_is_told() -> None:
    stream = io.StringIO()
    sink = ProgressSink(stream)
    for event in ({"type": "model.request"}, {"type": "sandbox.acquired", "sandboxId": "s"}):
        sink.write(json.dumps(event).encode() + b"\n")
    assert stream.getvalue() == "  sandbox s\n"
