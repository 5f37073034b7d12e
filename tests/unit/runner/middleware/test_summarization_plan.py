"""Summarization's decisions: when, where to cut, what stays, which skills are rescued."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage, ToolMessage

from skerry_api.rows.summarization import HistorySize, SummarizationSettings
from skerry_runner.messages import HIDDEN, REMINDER, REMINDER_MEMORY
from skerry_runner.middleware.summarization.plan import SUMMARY, Plan, planned, summary_message
from skerry_runner.middleware.summarization.sizes import (
    LAST_ANSWER,
    Unit,
    fraction_path,
    newest_from,
    reached,
    whole_from,
)


def human(id_: str, text: str = "x", flags: dict[str, Any] | None = None) -> HumanMessage:
    return HumanMessage(text, id=id_, additional_kwargs=flags or {})


def ai(id_: str, *calls: str, text: str = "x", total: int | None = None) -> AIMessage:
    usage: Any = None if total is None else {"input_tokens": total, "output_tokens": 0, "total_tokens": total}
    made: Any = [{"name": "ls", "args": {}, "id": call} for call in calls]
    return AIMessage(text, id=id_, tool_calls=made, usage_metadata=usage)


def tool(call: str, text: str = "x") -> ToolMessage:
    return ToolMessage(text, tool_call_id=call, id=f"t-{call}")


def settings(keep: int = 2, **kwargs: Any) -> SummarizationSettings:
    return SummarizationSettings(keep=HistorySize(messages=keep), **kwargs)


def plan(messages: list[AnyMessage], keep: int = 2, unit: Unit = Unit.MESSAGES) -> Plan | None:
    return planned(messages, settings(keep), None, unit)


def ids(messages: Any) -> list[str | None]:
    return [message.id for message in messages]


@pytest.mark.parametrize(
    ("trigger", "messages", "window", "unit"),
    [
        ({"messages": 2}, [human("a")], None, None),
        ({"messages": 2}, [human("a"), ai("b")], None, Unit.MESSAGES),
        ({"tokens": 105}, [human("a", "x" * 400)], None, None),
        ({"tokens": 104}, [human("a", "x" * 400)], None, Unit.TOKENS),
        # Letters that take more bytes take more tokens.
        ({"tokens": 204}, [human("a", "ж" * 400)], None, Unit.TOKENS),
        # The provider's own count holds prompt and tools too; what came after it is added.
        ({"tokens": 500}, [human("a"), ai("b", total=500)], None, Unit.TOKENS),
        ({"tokens": 600}, [human("a"), ai("b", total=500), human("c", "x" * 400)], None, Unit.TOKENS),
        ({"tokens": 700}, [human("a"), ai("b", total=500), human("c", "x" * 400)], None, None),
        ({"fraction": "0.5"}, [human("a", "x" * 400)], 208, Unit.TOKENS),
        ({"fraction": "0.5"}, [human("a", "x" * 400)], 210, None),
        ({"fraction": "0.5"}, [human("a", "x" * 400)], None, None),
    ],
)
def test_when_a_trigger_is_reached(
    trigger: dict[str, Any], messages: list[AnyMessage], window: int | None, unit: Unit | None
) -> None:
    chosen = SummarizationSettings(trigger=(HistorySize(messages=100), HistorySize(**trigger)))
    assert reached(messages, chosen, window) is unit


def test_a_count_of_the_history_before_the_summary_means_nothing() -> None:
    summary = HumanMessage("s", name="summary", additional_kwargs={LAST_ANSWER: "a1"})
    chosen = SummarizationSettings(trigger=(HistorySize(tokens=500),))
    assert reached([summary, ai("a1", total=900)], chosen, None) is None
    assert reached([summary, ai("a1", total=900), ai("a2", total=600)], chosen, None) is Unit.TOKENS


def test_which_field_needs_the_window() -> None:
    share, count = HistorySize(fraction="0.8"), HistorySize(messages=5)
    assert fraction_path(SummarizationSettings(trigger=(count, share))) == "trigger[1].fraction"
    assert fraction_path(SummarizationSettings(trigger=(count,), keep=share)) == "keep.fraction"
    assert fraction_path(SummarizationSettings(trigger=(count,))) is None


@pytest.mark.parametrize(
    ("keep", "window", "index"),
    [
        ({"messages": 1}, None, 3),
        ({"messages": 4}, None, 0),
        ({"messages": 9}, None, 0),
        ({"tokens": 29}, None, 3),
        ({"tokens": 58}, None, 2),
        ({"tokens": 9999}, None, 0),
        # The newest stays however long it is.
        ({"tokens": 1}, None, 3),
        ({"fraction": "0.5"}, 116, 2),
        ({"fraction": "0.5"}, None, 0),
        ({}, None, 0),
    ],
)
def test_where_the_newest_part_begins(keep: dict[str, Any], window: int | None, index: int) -> None:
    messages = [human(str(n), "x" * 100) for n in range(4)]
    assert newest_from(messages, HistorySize(**keep), window) == index


@pytest.mark.parametrize(
    ("messages", "cut", "whole"),
    [
        ([human("a"), ai("b", "1", "2"), tool("1"), tool("2"), ai("c")], 3, 1),
        ([human("a"), ai("b", "1", "2"), tool("1"), tool("2"), ai("c")], 2, 1),
        ([human("a"), ai("b", "1", "2"), tool("1"), tool("2"), ai("c")], 1, 1),
        ([human("a"), ai("b", "1", "2"), tool("1"), tool("2"), ai("c")], 4, 4),
        # A result that comes late ties all between.
        ([ai("a", "1"), ai("b", "2"), tool("2"), human("c"), tool("1")], 4, 0),
        ([ai("a", "1"), ai("b", "2"), tool("1"), human("c"), tool("2")], 4, 0),
        # An id that comes again belongs to the newest call.
        ([ai("a", "1"), tool("1"), ai("b", "1"), tool("1")], 3, 2),
        ([ai("a", "1"), tool("1"), ai("b", "1"), tool("1")], 2, 2),
        # Orphans tie nothing.
        ([human("a"), tool("9"), human("b")], 1, 1),
        ([], 0, 0),
    ],
)
def test_pairs_are_never_split(messages: list[AnyMessage], cut: int, whole: int) -> None:
    assert whole_from(messages, cut) == whole


def test_what_stays_and_what_is_told() -> None:
    made = plan([human("h1"), ai("a1"), human("h2"), ai("a2"), human("h3"), ai("a3", "1"), tool("1")])
    assert made is not None
    assert ids(made.summarised) == ["h1", "a1", "h2", "a2"]
    assert (ids(made.before), ids(made.after)) == ([], ["h3", "a3", "t-1"])


def test_the_current_request_stays_however_old() -> None:
    steps: list[AnyMessage] = [m for n in range(4) for m in (ai(f"a{n}", f"{n}"), tool(f"{n}"))]
    made = plan(
        [human("old"), ai("yes"), human("r", flags={REMINDER: True, HIDDEN: True}), human("r__user"), *steps]
    )
    assert made is not None
    assert ids(made.summarised) == ["old", "yes", "a0", "t-0", "a1", "t-1", "a2", "t-2"]
    assert (ids(made.before), ids(made.after)) == ([], ["r", "r__user", "a3", "t-3"])


def test_of_the_reminders_memory_and_the_newest_date_stay() -> None:
    def reminder(id_: str, memory: str | None = None) -> HumanMessage:
        return human(
            id_, flags={HIDDEN: True, REMINDER: True, **({REMINDER_MEMORY: memory} if memory else {})}
        )

    made = plan(
        [reminder("m", "told"), human("h1"), ai("a1"), reminder("d1"), human("h2"), reminder("d2"), human("h3"),
         ai("a3"), human("h4"), ai("a4")]
    )  # fmt: skip
    assert made is not None
    assert ids(made.before) == ["m"]
    assert ids(made.after) == ["d2", "h4", "a4"]
    assert ids(made.summarised) == ["h1", "a1", "h2", "h3", "a3"]


def test_hidden_messages_of_a_moment_are_neither_kept_nor_told() -> None:
    made = plan([human("h1"), ai("a1"), human("note", flags={HIDDEN: True}), ai("a2"), human("h2"), ai("a3")])
    assert made is not None
    assert "note" not in ids([*made.summarised, *made.before, *made.after])


def test_an_earlier_summary_goes_into_the_next() -> None:
    old = HumanMessage("s", id="s", name="summary", additional_kwargs={HIDDEN: True, SUMMARY: True})
    made = plan([old, human("h1"), ai("a1"), human("h2"), ai("a2")])
    assert made is not None
    assert ids(made.summarised) == ["s", "h1", "a1"]


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [human("h1"), ai("a1")],
        [human("h1"), ai("a1"), human("h2")],
        # Only what was summarised already, and the request.
        [HumanMessage("s", name="summary", id="s"), human("h1"), ai("a1", "1"), tool("1")],
        [ai("a1", "1", "2", "3"), tool("1"), tool("2"), tool("3")],
    ],
)
def test_too_little_is_not_worth_a_call(messages: list[AnyMessage]) -> None:
    assert plan(messages) is None


def test_tokens_that_stay_anyway_are_not_worth_a_call() -> None:
    messages: list[AnyMessage] = [human("h1"), ai("a1"), human("h2"), ai("a2", text="x" * 4000)]
    assert plan(messages, unit=Unit.TOKENS) is None
    assert plan(messages, unit=Unit.MESSAGES) is not None


def test_the_summary_is_nobody_s_input() -> None:
    made = plan([human("h1"), ai("a1"), human("h2"), ai("a2")])
    assert made is not None
    message = summary_message(made, "They said <x>.")
    assert (message.name, message.id) == ("summary", "a1__summary")
    assert message.additional_kwargs == {HIDDEN: True, SUMMARY: True, LAST_ANSWER: "a2"}
    assert message.text.endswith("\n\nThey said <x>.")
    assert ids(made.history(message)) == ["a1__summary", "h2", "a2"]


def test_nothing_that_stays_is_changed() -> None:
    messages: list[AnyMessage] = [human(f"h{n}") for n in range(3000)]
    before: list[BaseMessage] = [message.model_copy(deep=True) for message in messages]
    made = plan(messages)
    assert made is not None
    assert len(made.summarised) == 2998
    assert messages == before
