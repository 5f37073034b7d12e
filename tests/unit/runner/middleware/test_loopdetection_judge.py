"""LoopDetection's decisions: what is the same action, and when it is too often."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skerry_api.rows.loopdetection import LoopDetectionSettings
from skerry_runner.middleware.loopdetection.actions import action_of
from skerry_runner.middleware.loopdetection.judge import Layer, Verdict, judged
from skerry_runner.state import LoopCounts
from skerry_runner.toolcalls import CallSource, Declared


def call(name: str, **args: Any) -> Declared:
    return Declared(CallSource.VALID, "c", name, args=args)


def broken(name: str | None, text: str | None) -> Declared:
    return Declared(CallSource.INVALID, "c", name, text=text)


def lines(start: Any = None, end: Any = None, path: str = "/a") -> Declared:
    return call("read_file", path=path, start_line=start, end_line=end)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # Whatever the order, and a call made twice is one action.
        ([call("ls", path="/a"), call("bash", command="x")], [call("bash", command="x"), call("ls", path="/a")]),
        ([call("ls", path="/a")], [call("ls", path="/a"), call("ls", path="/a")]),
        # What only says how, or why.
        ([call("bash", command="x", timeout_seconds=5)], [call("bash", command="x", description="try")]),
        ([call("grep", pattern="x", max_results=5)], [call("grep", pattern="x", literal=True)]),
        ([call("write_file", path="/a", content="x")], [call("write_file", content="x", path="/a", description="d")]),
        # Lines of the same bucket, whichever way round and however written.
        ([lines()], [lines(1, 200)]),
        ([lines(1, 50)], [lines(3, 60)]),
        ([lines(50, 1)], [lines(1, 50)]),
        ([lines(0, 10)], [lines(1, 10)]),
        ([lines("1", "50")], [lines(1, 50)]),
        ([lines(201, 400)], [lines(399, 400)]),
        # Arguments that did not parse as a call, but are JSON.
        ([broken("bash", '{"command": "x"}')], [call("bash", command="x")]),
        ([broken("bash", "{")], [broken("bash", "{")]),
        ([broken(None, None)], [broken("", "{}")]),
    ],
)  # fmt: skip
def test_the_same_action(one: list[Declared], other: list[Declared]) -> None:
    assert action_of(one) == action_of(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([call("ls", path="/a")], [call("ls", path="/b")]),
        ([call("ls", path="/a")], [call("view_image", path="/a")]),
        ([call("ls", path="/a")], [call("ls", path="/a"), call("ls", path="/b")]),
        ([lines(1, 200)], [lines(201, 400)]),
        ([lines(1, 200)], [lines(1, 201)]),
        ([lines(1, 50)], [lines(1, 50, path="/b")]),
        ([call("write_file", path="/a", content="x")], [call("write_file", path="/a", content="y")]),
        ([call("str_replace", path="/a", old_str="x", new_str="y")],
         [call("str_replace", path="/a", old_str="y", new_str="x")]),
        ([call("glob", pattern="*", path="/a")], [call("glob", pattern="*", path="/b")]),
        # Of tools that we don't know every argument may matter.
        ([call("wiki_search", query="x", page=1)], [call("wiki_search", query="x", page=2)]),
        ([call("make_issue", title="x", description="a")], [call("make_issue", title="x", description="b")]),
        ([broken("bash", "{")], [broken("bash", "{{")]),
    ],
)  # fmt: skip
def test_another_action(one: list[Declared], other: list[Declared]) -> None:
    assert action_of(one) != action_of(other)


@pytest.mark.parametrize("text", ["[" * 100_000, "5", "null", '"x"', '"\\ud800"', ""])
def test_odd_arguments_have_a_digest(text: str) -> None:
    assert len(action_of([broken("ls", text)])) == 16


def seen(*turns: list[Declared], **settings: Any) -> list[Verdict]:
    """Verdicts over turns, the counters passed on as a checkpoint would."""
    counts, verdicts = LoopCounts(), []
    for calls in turns:
        verdicts.append(judged(counts, calls, LoopDetectionSettings.model_validate(settings)))
        counts = json.loads(json.dumps(verdicts[-1].counts))
    return verdicts


def told(verdicts: list[Verdict]) -> list[tuple[int, str, int, bool]]:
    """(turn from 1, layer, count, hard)"""
    return [
        (turn, found.layer.value, found.count, found.hard)
        for turn, verdict in enumerate(verdicts, start=1)
        for found in verdict.findings
    ]


A, B = [call("ls", path="/a")], [call("ls", path="/b")]
C = [call("ls", path="/c")]


def test_an_action_is_warned_of_at_three_and_stopped_at_five() -> None:
    assert told(seen(A, A, A, A, A)) == [(3, "action", 3, False), (5, "action", 5, True)]
    assert told(seen(A, B, A, B, A)) == [(5, "action", 3, False)]


def test_what_has_left_the_window_is_forgotten_and_warned_of_anew() -> None:
    settings = {"warn": 2, "hard": 3, "window": 3}
    assert told(seen(A, A, B, B, C, A, A, **settings)) == [
        (2, "action", 2, False), (4, "action", 2, False), (7, "action", 2, False),
    ]  # fmt: skip


def test_the_window_bounds_what_is_kept() -> None:
    verdicts = seen(*([call("bash", command=str(n))] for n in range(30)), window=20)
    assert len(verdicts[-1].counts["actions"]) == 20
    assert told(verdicts) == [(30, "tool", 30, False)]


def test_one_tool_is_warned_of_once_at_thirty_and_stopped_at_fifty() -> None:
    turns = [[call("read_file", path=f"/{n}")] for n in range(50)]
    assert told(seen(*turns)) == [(30, "tool", 30, False), (50, "tool", 50, True)]


def test_calls_of_one_message_count_each() -> None:
    turns = [[call("read_file", path=f"/{n}/{m}") for m in range(2)] for n in range(5)]
    assert told(seen(*turns, toolWarn=4, toolHard=9)) == [(2, "tool", 4, False), (5, "tool", 10, True)]


def test_other_tools_between_don_t_reset_a_tool_s_count() -> None:
    turns = [[call("bash" if n % 2 else "grep", command=str(n), pattern=str(n))] for n in range(12)]
    assert told(seen(*turns, toolWarn=5, toolHard=6)) == [
        (9, "tool", 5, False), (10, "tool", 5, False), (11, "tool", 6, True), (12, "tool", 6, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("own", "findings"),
    [
        ({"warn": 2, "hard": 3}, [(2, "tool", 2, False), (3, "tool", 3, True), (4, "tool", 4, True)]),
        ({"warn": 9, "hard": 9}, []),
    ],
)
def test_a_tool_may_have_numbers_of_its_own(
    own: dict[str, int], findings: list[tuple[int, str, int, bool]]
) -> None:
    turns = [[call("bash", command=str(n))] for n in range(4)]
    settings = {"toolWarn": 3, "toolHard": 4, "tools": [{"name": "bash", **own}]}
    assert told(seen(*turns, **settings)) == findings
    others = [[call("ls", path=str(n))] for n in range(4)]
    assert told(seen(*others, **settings)) == [(3, "tool", 3, False), (4, "tool", 4, True)]


def test_both_layers_are_told_and_names_with_them() -> None:
    both = [call("ls", path="/a"), call("bash", command="x")]
    (*_, last) = seen(both, both, both, toolWarn=3, toolHard=9)
    assert [(found.layer, found.tools) for found in last.warnings] == [
        (Layer.ACTION, ("ls", "bash")), (Layer.TOOL, ("ls",)), (Layer.TOOL, ("bash",)),
    ]  # fmt: skip
