"""Facts of messages: found out once for each object, and forgotten with the history."""

from __future__ import annotations

import gc
from weakref import ref

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

from skerry_runner.permessage import PerMessage


def test_a_message_is_asked_about_once_and_its_copy_anew() -> None:
    asked: list[str] = []

    def text(message: BaseMessage) -> str:
        asked.append(str(message.content))
        return str(message.content)

    texts = PerMessage(text)
    first, second = HumanMessage("a", id="1"), AIMessage("b", id="2")
    assert texts([first]) == ["a"]
    assert texts([first, second, first]) == ["a", "b", "a"]
    assert asked == ["a", "b"]
    rewritten = second.model_copy(update={"content": "c"})
    assert texts([first, rewritten]) == ["a", "c"]
    assert asked == ["a", "b", "c"]


def test_what_left_the_history_is_forgotten() -> None:
    asked: list[str | None] = []

    def ids(message: BaseMessage) -> int:
        asked.append(message.id)
        return len(asked)

    nth = PerMessage(ids)
    message = HumanMessage("abc", id="1")
    assert (nth([message]), nth([]), nth([message])) == ([1], [], [2])


def test_no_message_is_kept_alive() -> None:
    kinds = PerMessage(lambda message: message.type)
    message = HumanMessage("a")
    alive = ref(message)
    kinds([message])
    del message
    gc.collect()
    assert alive() is None
    assert kinds([AIMessage("b")]) == ["ai"]
