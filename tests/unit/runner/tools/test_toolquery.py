"""The forms of a query, as a table."""

from __future__ import annotations

import time

import pytest

from skerry_runner.deferred import DeferredTool
from skerry_runner.tools.toolquery import search
from skerry_testing.deferredtools import deferred

TOOLS = (
    deferred("slack_send", "Send a message to a channel."),
    deferred("slack_list", "List channels."),
    deferred("mail_send", "Send mail to a person; not slack."),
    deferred("calendar_add", "Add an event.", server="office"),
    deferred("notebook_run", "Run a cell (kernel [1])."),
)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("select:mail_send,slack_list", ["mail_send", "slack_list"]),
        ("select: slack_list , slack_list,", ["slack_list"]),
        ("select:", []),
        ("slack", ["slack_send", "slack_list", "mail_send"]),
        ("SEND", ["slack_send", "mail_send"]),
        ("^(mail|cal)", ["mail_send", "calendar_add"]),
        ("[1]", ["notebook_run"]),
        ("kernel [1", ["notebook_run"]),
        ("office", ["calendar_add"]),
        ("+slack", ["slack_send", "slack_list"]),
        ("+slack list channels", ["slack_list", "slack_send"]),
        ("+", []),
        ("+ ", []),
        ("+zzz send", []),
        ("channel send message", ["slack_send", "mail_send", "slack_list"]),
        ("nothing like it", []),
        ("   ", []),
        ("", []),
    ],
)
def test_queries(query: str, names: list[str]) -> None:
    assert [tool.name for tool in search(query, TOOLS, 50).tools] == names


def test_a_limit_holds_for_all_but_selected_ones() -> None:
    many = tuple(deferred(f"tool_{number}") for number in range(20))
    found = search("tool", many, 5)
    assert (len(found.tools), found.more) == (5, 15)
    everything = "select:" + ",".join(tool.name for tool in many)
    assert (search(everything, many, 5).tools, search(everything, many, 5).more) == (many, 0)


def test_selected_names_that_are_nowhere_are_told() -> None:
    found = search("select:mail_send,Mail_Send,gone", TOOLS, 5)
    assert [tool.name for tool in found.tools] == ["mail_send"]
    assert found.missing == ("Mail_Send", "gone")


def test_a_pattern_that_never_ends_is_read_as_words() -> None:
    trap: tuple[DeferredTool, ...] = (deferred("trap", "a" * 3000 + "b"), *TOOLS)
    began = time.monotonic()
    assert [tool.name for tool in search("(a+)+(a+)+(a+)+$", trap, 5).tools] == []
    assert time.monotonic() - began < 60
