"""Summarization's rescue of skills that were read: which, within which budgets, and out of which messages."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from skerry_api.rows.summarization import HistorySize, SummarizationSettings
from skerry_runner.middleware.summarization.plan import planned
from skerry_runner.middleware.summarization.sizes import Unit
from skerry_runner.middleware.summarization.skills import chosen_reads, only_calls, skill_path, skill_reads

READ = ("read_file", "cat")


@pytest.mark.parametrize(
    ("args", "path"),
    [
        ({"path": "/mnt/skills/pdf/SKILL.md"}, "/mnt/skills/pdf/SKILL.md"),
        ({"file_path": "/mnt/skills//pdf/./a.md"}, "/mnt/skills/pdf/a.md"),
        ({"path": "//mnt/skills/pdf/a"}, "/mnt/skills/pdf/a"),
        ({"path": "/mnt/skills"}, None),
        ({"path": "/mnt/skills-other/a"}, None),
        ({"path": "/mnt/skills/../user-data/a"}, None),
        ({"path": "mnt/skills/a"}, None),
        ({"path": 5}, None),
        ({"command": "cat /mnt/skills/a/SKILL.md"}, None),
        ({}, None),
    ],
)
def test_which_file_a_call_reads(args: dict[str, Any], path: str | None) -> None:
    assert skill_path(args) == path


def call(id_: str, path: str = "/mnt/skills/a/SKILL.md", name: str = "read_file") -> dict[str, Any]:
    return {"name": name, "args": {"path": path}, "id": id_, "type": "tool_call"}


def ask(*calls: Any, id_: str = "m", text: str = "") -> AIMessage:
    return AIMessage(text, id=id_, tool_calls=list(calls))


def result(id_: str, text: str = "text", status: Any = "success") -> ToolMessage:
    return ToolMessage(text, tool_call_id=id_, id=f"t-{id_}", status=status)


def path(name: str) -> str:
    return f"/mnt/skills/{name}/SKILL.md"


def test_only_reads_that_worked_count() -> None:
    messages = [
        ask(call("1"), call("2", path("b")), call("3", path("c"), "bash"), call("4", "/mnt/user-data/x"), call("5")),
        result("2", "no", "error"), result("1"), result("3"), result("4"), result("9"),
    ]  # fmt: skip
    assert [(r.call_id, r.asked, r.answered) for r in skill_reads(messages, READ)] == [("1", 0, 2)]


def reads(*names_and_sizes: tuple[str, int]) -> list[AnyMessage]:
    messages: list[AnyMessage] = []
    for n, (name, tokens) in enumerate(names_and_sizes):
        messages += [ask(call(str(n), path(name)), id_=f"m{n}"), result(str(n), "x" * 4 * (tokens - 4))]
    return messages


def chosen(messages: list[AnyMessage], cut: int | None = None, **budgets: int) -> list[str]:
    settings = SummarizationSettings(**budgets)
    found = chosen_reads(messages, len(messages) if cut is None else cut, settings)
    return [read.call_id for read in found]


def test_the_newest_of_each_file_within_the_count() -> None:
    messages = reads(("a", 10), ("b", 10), ("a", 10), ("c", 10))
    assert chosen(messages) == ["1", "2", "3"]
    assert chosen(messages, preserve_recent_skill_count=2) == ["2", "3"]
    assert chosen(messages, preserve_recent_skill_count=0) == []


def test_one_that_is_too_long_is_left_out_and_the_next_may_fit() -> None:
    messages = reads(("a", 100), ("b", 5000), ("c", 5001), ("d", 100))
    assert chosen(messages) == ["0", "1", "3"]
    assert chosen(messages, preserve_recent_skill_tokens=5099) == ["0", "3"]
    assert chosen(messages, preserve_recent_skill_tokens_per_skill=99) == []
    assert chosen(messages, preserve_recent_skill_tokens=0) == []


def test_a_file_that_is_read_again_later_needs_no_rescue() -> None:
    messages = reads(("a", 10), ("b", 10), ("a", 10))
    assert chosen(messages, cut=4) == ["1"]


def test_the_other_calls_of_a_message_are_told_and_their_results_too() -> None:
    messages: list[AnyMessage] = [
        HumanMessage("go", id="h"),
        ask(call("1", "/mnt/user-data/x"), call("2"), call("3", path("b")), id_="m", text="both"),
        result("1"), result("2"), result("3", "x" * 90_000),
        AIMessage("a", id="a"), AIMessage("b", id="b"),
    ]  # fmt: skip
    settings = SummarizationSettings(keep=HistorySize(messages=1))
    plan = planned(messages, settings, None, Unit.MESSAGES)
    assert plan is not None
    assert plan.skills == ("/mnt/skills/a/SKILL.md",)
    told, kept = plan.summarised[0], plan.after[0]
    assert isinstance(told, AIMessage)
    assert isinstance(kept, AIMessage)
    assert [c["id"] for c in told.tool_calls] == ["1", "3"]
    assert [c["id"] for c in kept.tool_calls] == ["2"]
    assert (told.id, kept.id, kept.text) == ("m", "m", "both")
    assert [m.id for m in plan.summarised] == ["m", "t-1", "t-3", "a"]
    assert [m.id for m in plan.before] == ["h"]
    assert [m.id for m in plan.after] == ["m", "t-2", "b"]
    assert len(messages[1].tool_calls) == 3  # type: ignore[union-attr]  # the AIMessage above


def test_a_message_with_nothing_but_the_skill_stays_the_same_object() -> None:
    messages = [*reads(("a", 10)), AIMessage("x", id="x"), AIMessage("y", id="y"), HumanMessage("z", id="z")]
    plan = planned(messages, SummarizationSettings(keep=HistorySize(messages=1)), None, Unit.MESSAGES)
    assert plan is not None
    assert plan.before == (messages[0], messages[1])
    assert plan.before[0] is messages[0]


def test_calls_are_taken_out_of_every_place() -> None:
    message = AIMessage(
        [
            {"type": "text", "text": "both"},
            {"type": "tool_use", "id": "1", "name": "read_file", "input": {}},
            {"type": "tool_use", "id": "2", "name": "ls", "input": {}},
            {"type": "function_call", "id": "fc_1", "call_id": "1", "name": "read_file", "arguments": "{}"},
            {"type": "function_call", "id": "fc_2", "call_id": "2", "name": "ls", "arguments": "{}"},
        ],
        id="m",
        tool_calls=[call("1"), call("2", name="ls")],
        invalid_tool_calls=[
            {"name": "x", "args": "{", "id": "3", "error": None, "type": "invalid_tool_call"}
        ],
        additional_kwargs={"tool_calls": [{"id": "1"}, {"id": "2"}], "function_call": {"name": "ls"}, "k": 1},
    )
    before = message.model_copy(deep=True)
    one = only_calls(message, frozenset("1"), keep=True)
    assert [c["id"] for c in one.tool_calls] == ["1"]
    assert one.invalid_tool_calls == []
    assert [b.get("call_id") or b.get("id") for b in one.content[1:]] == ["1", "1"]  # type: ignore[union-attr]  # blocks
    assert one.additional_kwargs == {"tool_calls": [{"id": "1"}], "k": 1}
    rest = only_calls(message, frozenset("1"), keep=False)
    assert [c["id"] for c in rest.tool_calls] == ["2"]
    assert len(rest.invalid_tool_calls) == 1
    assert [b.get("call_id") or b.get("id") for b in rest.content[1:]] == ["2", "2"]  # type: ignore[union-attr]  # blocks
    assert rest.additional_kwargs == {"tool_calls": [{"id": "2"}], "k": 1}
    assert message == before
    bare = only_calls(AIMessage("x", tool_calls=[call("1")]), frozenset("1"), keep=False)
    assert (bare.tool_calls, bare.additional_kwargs) == ([], {})
