"""Whose a message is."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from skerry_runner.messages import HIDDEN, SUMMARY_NAME, is_user_message, latest_user_message

SAID = HumanMessage("hi", id="h")
HINT = HumanMessage("hint", additional_kwargs={HIDDEN: True})
SUMMARY = HumanMessage("so far", name=SUMMARY_NAME)


@pytest.mark.parametrize(
    ("message", "user"), [(SAID, True), (HINT, False), (SUMMARY, False), (AIMessage("hi"), False)]
)
def test_who_wrote_it(message: BaseMessage, user: bool) -> None:
    assert is_user_message(message) is user


@pytest.mark.parametrize(
    ("messages", "index"),
    [
        ([SAID], 0),
        ([SAID, AIMessage("x"), SAID, HINT, SUMMARY, AIMessage("y")], 2),
        ([HINT, SUMMARY], None),
        ([], None),
    ],
)
def test_the_newest_of_a_person(messages: list[BaseMessage], index: int | None) -> None:
    found = latest_user_message(messages)
    assert found == (None if index is None else (index, messages[index]))
