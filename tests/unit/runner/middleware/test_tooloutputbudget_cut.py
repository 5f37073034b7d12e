"""ToolOutputBudget's pure parts: cutting, telling what a text is, finding messages in results."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langgraph.types import Command
from pydantic import ValidationError

from skerry_api.rows.tooloutputbudget import ToolOutputBudgetSettings
from skerry_runner.middleware.tooloutputbudget import file_name, trimmed
from skerry_runner.middleware.tooloutputbudget.cut import cut_in_place, head_of, plain_text, tail_of
from skerry_runner.middleware.tooloutputbudget.results import messages_in, with_messages
from skerry_runner.middleware.tooloutputbudget.synopsis import synopsis_of

IMAGE = {"type": "image", "base64": "aGk=", "mime_type": "image/png"}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a", "a"),
        ([], ""),
        (["a", {"type": "text", "text": "b"}], "a\nb"),
        (["a", IMAGE], None),
        ([{"type": "text"}], None),
        ([{"type": "text", "text": 5}], None),
    ],
)
def test_plain_text(content: Any, text: str | None) -> None:
    assert plain_text(content) == text


def test_the_ends_are_whole_lines_where_there_are_any() -> None:
    text = "first\nsecond\nthird"
    assert [head_of(text, n) for n in (0, 4, 5, 8, 12, 99)] == [
        "",
        "firs",
        "first",
        "first",
        "first\nsecond",
        text,
    ]
    assert [tail_of(text, n) for n in (0, 4, 5, 8, 12, 99)] == [
        "",
        "hird",
        "third",
        "third",
        "second\nthird",
        text,
    ]
    assert (head_of("x" * 9, 4), tail_of("x" * 9, 4)) == ("xxxx", "xxxx")
    assert tail_of("line\n" * 3, 3) == "ne\n"


@pytest.mark.parametrize("most", [200, 500, 999, 1000])
@pytest.mark.parametrize(("head", "tail"), [(0, 0), (100, 50), (8000, 3000), (0, 5000), (5000, 0)])
@pytest.mark.parametrize("text", ["x" * 1001, "a line\n" * 200, "é" * 50_000])
def test_what_is_cut_in_place_is_never_longer_than_allowed(
    text: str, most: int, head: int, tail: int
) -> None:
    cut = cut_in_place(text, most=most, head=head, tail=tail, why="too long")
    assert len(cut) <= most
    first, marker, last = cut.partition("\n[… ")
    assert text.startswith(first)
    assert marker
    dropped, _, end = last.partition(" characters left out: too long …]\n")
    assert text.endswith(end)
    assert int(dropped) == len(text) - len(first) - len(end)


def test_what_fits_is_the_same_object() -> None:
    text = "x" * 1000
    assert cut_in_place(text, most=1000, head=1, tail=1, why="") is text


NESTED = "[" * 100_000
DIGITS = "[" + "9" * 10_000 + "]"


@pytest.mark.parametrize(
    ("text", "words", "suffix"),
    [
        (json.dumps({f"k{n}": n for n in range(14)}), "JSON object with keys k0, k1, k2, k3, k4, k5, k6, k7, k8, k9, k10, k11 and 2 more", "json"),
        ('[{"a": 1, "b\\n": 2}, {}]', "JSON array of 2 items, the first with keys a, b·", "json"),
        ("[1, 2, 3]", "JSON array of 3 items", "json"),
        ("{}", "JSON object", "json"),
        ('{"a": 1}\n{"a": 2}\n{"a": 3}\n', "JSON lines, the first with keys a", "jsonl"),
        ('{"a": 1', None, "txt"),
        (NESTED, None, "txt"),
        (DIGITS, None, "txt"),
        ("name,age\nann,5\nbob,6\n", "CSV with 2 columns: name, age", "csv"),
        ("name\tage\nann\t5\nbob\t6\n", "TSV with 2 columns: name, age", "tsv"),
        ('a,"b,c"\n1,"x,y"\n2,3\n', "CSV with 2 columns: a, b,c", "csv"),
        ("Dear all, hello\nthis is text, with, commas\nand more\n", None, "txt"),
        ("<?xml version='1.0'?>\n<!-- x --><note><a/></note>", "XML with root note", "xml"),
        ("<!DOCTYPE html><html></html>", "HTML page", "html"),
        ("< 5 and > 3", None, "txt"),
        ("plain\ntext", None, "txt"),
        ("", None, "txt"),
    ],
    ids=lambda value: str(value)[:20],
)  # fmt: skip
def test_synopsis(text: str, words: str | None, suffix: str) -> None:
    found = synopsis_of(text)
    assert found.suffix == suffix
    assert found.words.startswith(f"{words}; " if words else f"{len(text)} characters")
    assert "\n" not in found.words


@pytest.mark.parametrize(
    ("tool", "start"),
    [("bash", "bash-"), ("../../etc/passwd", "etc_passwd-"), ("", "tool-"), ("..", "tool-"), ("ä b", "b-"),
     ("mcp." + "x" * 300, "mcp_" + "x" * 44 + "-")],
)  # fmt: skip
def test_file_names_are_safe_and_stable(tool: str, start: str) -> None:
    name = file_name(tool, "c1", "text\ud800", "txt")
    assert name.startswith(start)
    assert len(name) == len(start) + 12 + 4
    assert name == file_name(tool, "c1", "text\ud800", "txt")
    assert name != file_name(tool, "c2", "text\ud800", "txt")


ONE, TWO = ToolMessage("1", tool_call_id="c1"), ToolMessage("2", tool_call_id="c2")
NEW = ToolMessage("new", tool_call_id="c2")


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (Command(update={"messages": [ONE, HumanMessage("h"), TWO], "x": 1}, goto="g", graph="p", resume=5),
         Command(update={"messages": [ONE, HumanMessage("h"), NEW], "x": 1}, goto="g", graph="p", resume=5)),
        (Command(update=[("messages", [ONE]), ("x", TWO), ("messages", (TWO,))]),
         Command(update=[("messages", [ONE]), ("x", TWO), ("messages", (NEW,))])),
    ],
)  # fmt: skip
def test_messages_are_exchanged_and_nothing_else(result: Command[Any], expected: Command[Any]) -> None:
    assert messages_in(result) == [ONE, TWO]
    assert with_messages(result, {1: NEW}) == expected
    assert with_messages(result, {}) is result


@pytest.mark.parametrize(
    "update", [None, {"x": [TWO]}, ["odd"], "text", {"messages": None}, {"messages": [HumanMessage("h")]}]
)
def test_results_without_tool_messages(update: Any) -> None:
    command: Command[Any] = Command(update=update)
    assert messages_in(command) == []
    assert with_messages(command, {0: NEW}) == command


def test_single_messages() -> None:
    assert with_messages(TWO, {0: NEW}) is NEW
    single: Command[Any] = Command(update={"messages": TWO})
    assert with_messages(single, {0: NEW}) == Command(update={"messages": NEW})


def test_history_is_trimmed_in_copies_only() -> None:
    settings = ToolOutputBudgetSettings(fallback_max_chars=300)
    long = ToolMessage(
        "x" * 301,
        tool_call_id="c1",
        name="t",
        id="m1",
        status="error",
        artifact={"a": 1},
        additional_kwargs={"k": 1},
    )
    exact = ToolMessage("x" * 300, tool_call_id="c2", name="t")
    read = ToolMessage("x" * 999, tool_call_id="c3", name="read_file")
    image = ToolMessage(["x" * 999, IMAGE], tool_call_id="c4", name="t")
    talk = HumanMessage("x" * 999)
    messages: list[AnyMessage] = [talk, long, exact, read, image]
    result = trimmed(messages, settings)
    assert result[:1] + result[2:] == [talk, exact, read, image]
    assert len(str(result[1].content)) <= 300
    assert result[1] == long.model_copy(update={"content": result[1].content})
    assert long.content == "x" * 301
    unchanged: list[AnyMessage] = [talk, exact]
    assert trimmed(unchanged, settings) is unchanged


@pytest.mark.parametrize("name", ["", "..", ".", "a/b", "/abs", "a\\b", "-rf", "a b", "x" * 65, ".-a"])
def test_the_folder_is_one_safe_name(name: str) -> None:
    with pytest.raises(ValidationError, match="storageSubdir"):
        ToolOutputBudgetSettings.model_validate({"storageSubdir": name})
