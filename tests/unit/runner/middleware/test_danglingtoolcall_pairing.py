"""DanglingToolCall's rebuilding of a history: which result goes where, what is made up, what goes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from itertools import chain, product
from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, SystemMessage, ToolMessage

from skerry_runner.middleware.danglingtoolcall import paired
from skerry_runner.middleware.danglingtoolcall.pairing import intact, rebuilt

Shape = list[Any]


def call(id_: str | None, name: str = "ls", **args: Any) -> Any:
    return {"name": name, "args": args, "id": id_, "type": "tool_call"}


def broken(id_: str | None, name: str | None = "ls", args: str = '{"a', error: str | None = None) -> Any:
    return {"name": name, "args": args, "id": id_, "error": error, "type": "invalid_tool_call"}


def ai(*calls: Any, id_: str = "a1", invalid: Sequence[Any] = (), **kwargs: Any) -> AIMessage:
    return AIMessage("", id=id_, tool_calls=list(calls), invalid_tool_calls=list(invalid), **kwargs)


def raw(*calls: dict[str, Any], **kwargs: Any) -> AIMessage:
    """A message whose calls stand in additional_kwargs alone: LangChain could not read them."""
    message = AIMessage("", id="a1")
    return message.model_copy(update={"additional_kwargs": {"tool_calls": list(calls), **kwargs}})


def result(id_: str, text: str = "ok", name: str | None = "ls", **kwargs: Any) -> ToolMessage:
    return ToolMessage(text, tool_call_id=id_, name=name, **kwargs)


def human(text: str = "go") -> HumanMessage:
    return HumanMessage(text)


def shape(messages: Sequence[AnyMessage]) -> Shape:
    """Roles; of calls their ids, of results id and text's beginning."""
    told: Shape = []
    for message in messages:
        if isinstance(message, AIMessage):
            told.append(("ai", [c["id"] for c in message.tool_calls]))
        elif isinstance(message, ToolMessage):
            told.append((message.tool_call_id, str(message.text)[:2]))
        else:
            told.append(message.type)
    return told


INTACT: dict[str, list[AnyMessage]] = {
    "nothing": [],
    "no tools": [SystemMessage("s"), human(), AIMessage("hi")],
    "paired": [human(), ai(call("1"), call("2")), result("1"), result("2"), AIMessage("done")],
    "an id again in a later turn": [
        human(), ai(call("1")), result("1", "a"), human(), ai(call("1"), id_="a2"), result("1", "b"),
    ],
    "a name that only this agent's tools have": [human(), ai(call("1", "fs.read")), result("1", name="fs.read")],
}  # fmt: skip


@pytest.mark.parametrize("name", INTACT)
def test_a_history_that_is_well_is_the_same_object(name: str) -> None:
    messages = INTACT[name]
    assert paired(messages, tools={"fs.read"}) is messages


def test_a_history_is_well_just_when_rebuilding_would_change_nothing() -> None:
    pieces: list[AnyMessage] = [
        human(),
        ai(),
        ai(call("1")),
        ai(call("1"), call("2")),
        ai(call("1"), call("1")),
        ai(call(None)),
        ai(call("1", "no name")),
        ai(invalid=[broken("1")]),
        raw({"id": "1", "function": {"name": "ls", "arguments": "{}"}}),
        result("1"),
        result("2"),
        result(""),
    ]
    for picked in chain.from_iterable(product(pieces, repeat=length) for length in range(4)):
        messages = list(picked)
        laid_out = rebuilt(messages, (), 500)
        unchanged = len(laid_out) == len(messages) and all(map(operator.is_, laid_out, messages))
        assert intact(messages) is unchanged, shape(messages)
        assert (paired(messages) is messages) is unchanged


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        # Missing, at the end and in the midst.
        ([human(), ai(call("1"))], ["human", ("ai", ["1"]), ("1", "Er")]),
        ([ai(call("1")), human()], [("ai", ["1"]), ("1", "Er"), "human"]),
        ([ai(call("1"), call("2")), result("2")], [("ai", ["1", "2"]), ("1", "Er"), ("2", "ok")]),
        # Out of order, and pushed away by others.
        ([ai(call("1"), call("2")), result("2", "b"), result("1", "a")], [("ai", ["1", "2"]), ("1", "a"), ("2", "b")]),
        ([ai(call("1")), human(), result("1")], [("ai", ["1"]), ("1", "ok"), "human"]),
        ([human(), result("1"), ai(call("1"))], ["human", ("ai", ["1"]), ("1", "ok")]),
        # A result from before somebody spoke is no result of a call made after.
        ([result("1", "old"), human(), ai(call("1"))], ["human", ("ai", ["1"]), ("1", "Er")]),
        # Orphans.
        ([human(), result("9")], ["human"]),
        ([ai(call("1")), result("1", "a"), result("1", "b")], [("ai", ["1"]), ("1", "a")]),
        # An id used again: the newest call before a result gets it, a dangling one before that does not.
        (
            [ai(call("1")), human(), ai(call("1"), id_="a2"), result("1", "b")],
            [("ai", ["1"]), ("1", "Er"), "human", ("ai", ["1"]), ("1", "b")],
        ),
        (
            [ai(call("1")), ai(call("1"), id_="a2"), result("1", "a"), result("1", "b")],
            [("ai", ["1"]), ("1", "a"), ("ai", ["1"]), ("1", "b")],
        ),
        (
            [ai(call("1")), result("1", "a"), ai(call("1"), id_="a2")],
            [("ai", ["1"]), ("1", "a"), ("ai", ["1"]), ("1", "Er")],
        ),
    ],
)  # fmt: skip
def test_results_go_where_they_belong(messages: list[AnyMessage], expected: Shape) -> None:
    assert shape(paired(messages)) == expected


def test_what_is_made_up_is_an_error_under_the_call_s_name() -> None:
    _, made = paired([ai(call("1", "bash"))])
    assert isinstance(made, ToolMessage)
    assert (made.status, made.name, made.tool_call_id) == ("error", "bash", "1")
    assert made.text.startswith("Error: this call was interrupted")


def test_messages_that_stay_are_the_same_objects_and_nothing_is_changed_in_place() -> None:
    message, given = ai(call("1"), call("2")), result("2")
    before = (message.model_dump(), given.model_dump())
    rebuilt = paired([message, given])
    assert rebuilt[0] is message
    assert rebuilt[2] is given
    assert (message.model_dump(), given.model_dump()) == before


@pytest.mark.parametrize(
    ("calls", "results", "expected"),
    [
        # Two calls of one id: each gets its result where names or numbers leave no choice.
        ([call("1", "ls"), call("1", "bash")], [("1", "b", "bash"), ("1", "a", "ls")], ["a", "b"]),
        ([call("1", "ls"), call("1", "ls")], [("1", "a", "ls"), ("1", "b", "ls")], ["a", "b"]),
        ([call("1", "ls"), call("1", "ls")], [("1", "a", "ls")], ["Error", "Error"]),
        ([call("1", "ls"), call("1", "bash")], [("1", "b", "bash")], ["Error", "b"]),
        ([call("1"), call("1")], [("1", "a", None), ("1", "b", None)], ["a", "b"]),
        # No ids at all.
        ([call(None)], [("", "a", "ls")], ["a"]),
        ([call("")], [("missing_tool_call_id", "a", "ls")], ["a"]),
        ([call(None, "ls"), call("", "bash")], [("", "b", "bash"), ("", "a", "ls")], ["a", "b"]),
        ([call(None, "ls"), call(None, "ls")], [("", "a", "ls")], ["Error", "Error"]),
        ([call(None)], [], ["Error"]),
    ],
)
def test_calls_that_share_an_id_or_have_none(
    calls: list[Any], results: list[tuple[str, str, str | None]], expected: list[str]
) -> None:
    rebuilt = paired([ai(*calls), *(result(id_, text, name) for id_, text, name in results)])
    message, *given = rebuilt
    assert isinstance(message, AIMessage)
    ids = [c["id"] for c in message.tool_calls]
    assert all(ids)
    assert len(set(ids)) == len(ids) == len(calls)
    assert [m.tool_call_id for m in given if isinstance(m, ToolMessage)] == ids
    assert [str(m.text).split(":")[0] for m in given] == expected


def test_ids_that_are_made_up_stay_the_same() -> None:
    history: list[AnyMessage] = [human(), ai(call(None), call(None))]
    first, second = paired(history), paired([*history, human("more")])
    assert shape(first) == shape(second)[:-1]
    assert all(len(c["id"] or "") <= 40 for c in first[1].tool_calls)  # type: ignore[union-attr]  # an AIMessage
    without_id: list[AnyMessage] = [message.model_copy(update={"id": None}) for message in history]
    assert shape(paired(without_id)) == shape(paired(without_id))


@pytest.mark.parametrize(
    ("message", "names", "texts"),
    [
        (ai(invalid=[broken("1", error="Expecting ',' at 7")]), ["ls"], ["complete JSON object (Expecting ',' at 7). Make it"]),
        (ai(invalid=[broken("1", "write_file")]), ["write_file"], ["Do not send the same long text again"]),
        (ai(invalid=[broken("1", "str_replace")]), ["str_replace"], ["Do not send the same long text again"]),
        (ai(invalid=[broken("1", None)]), ["unknown_tool"], ["names no tool"]),
        (ai(call("1", "")), ["unknown_tool"], ["names no tool"]),
        (ai(call("1", "  ")), ["unknown_tool"], ["names no tool"]),
        (ai(call("1", "my tool!")), ["my_tool_"], ["interrupted"]),
        (ai(call("1", "x" * 99)), ["x" * 64], ["interrupted"]),
        (ai(call("1"), invalid=[broken("2")]), ["ls", "ls"], ["interrupted", "complete JSON"]),
        (raw({"id": "1", "function": {"name": "ls", "arguments": '{"pa'}}), ["ls"], ["complete JSON"]),
        (raw({"id": "1", "function": {"name": None, "arguments": None}}), ["unknown_tool"], ["names no tool"]),
        (raw({"function": "nonsense"}, {"name": "ls"}), ["unknown_tool", "ls"], ["names no tool", "complete JSON"]),
        (AIMessage("", id="a1", additional_kwargs={"function_call": {"name": "ls", "arguments": "{}"}}), ["ls"], ["complete JSON"]),
    ],
)  # fmt: skip
def test_calls_that_no_provider_takes_back(message: AIMessage, names: list[str], texts: list[str]) -> None:
    mended, *made = paired([human(), message])[1:]
    assert isinstance(mended, AIMessage)
    assert mended.id == "a1"
    assert [c["name"] for c in mended.tool_calls] == names
    assert all(isinstance(c["args"], dict) and c["id"] for c in mended.tool_calls)
    assert (mended.invalid_tool_calls, mended.additional_kwargs) == ([], {})
    assert [m.name for m in made] == names
    for m, text in zip(made, texts, strict=True):
        assert text in m.text
        assert isinstance(m, ToolMessage)
        assert m.status == "error"


def test_a_result_that_the_framework_made_up_for_a_broken_call_is_replaced() -> None:
    message = ai(invalid=[broken("1", "write_file")])
    rebuilt = paired([message, result("1", "could not be executed", "write_file", status="error")])
    assert shape(rebuilt) == [("ai", ["1"]), ("1", "Er")]
    assert "smaller calls" in rebuilt[1].text


def test_a_nameless_call_keeps_its_result_under_the_name_that_it_gets() -> None:
    _, given = paired([ai(call("1", "")), result("1", "no such tool", "")])
    assert (given.name, given.text) == ("unknown_tool", "no such tool")


def test_blocks_of_calls_go_from_a_message_that_is_mended_and_text_stays() -> None:
    content: list[Any] = [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "so"},
        {"type": "tool_use", "id": "1", "name": "ls", "input": {}},
        {"type": "input_json_delta", "partial_json": "{"},
    ]
    message = AIMessage(content, id="a1", invalid_tool_calls=[broken("1")])
    mended = paired([message])[0]
    assert mended.content == content[:2]
    only_calls = AIMessage(content[2:], id="a1", invalid_tool_calls=[broken("1")])
    assert paired([only_calls])[0].content == ""
    whole = AIMessage(content[:3], id="a1", tool_calls=[call("1")])
    assert paired([whole, result("1")])[0] is whole


@pytest.mark.parametrize(("detail_max", "shown"), [(500, 500), (20, 20), (1, 1), (0, 0)])
def test_the_parser_s_complaint_is_cut(detail_max: int, shown: int) -> None:
    made = paired([ai(invalid=[broken("1", error="e" * 900)])], detail_max=detail_max)[1]
    between = made.text.partition("object")[2].partition(".")[0]
    assert len(between) == (shown + 3 if shown else 0)


def test_thousands_of_messages() -> None:
    history: list[AnyMessage] = []
    for turn in range(3000):
        history += [human(), ai(call("1"), call("2"), id_=f"a{turn}"), result("1"), result("2")]
    assert paired(history) is history
    del history[-1]
    assert len(paired(history)) == 12_000
