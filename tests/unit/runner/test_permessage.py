"""What is known of a history: found out once for each message in its place, and anew where another one stands."""

from __future__ import annotations

from langchain_core.messages import AIMessage, AnyMessage, BaseMessage, HumanMessage

from skerry_runner.permessage import PerMessage, WellSoFar


class Asked:
    """Notes what it is asked about."""

    def __init__(self) -> None:
        self.about: list[str] = []

    def text(self, message: BaseMessage) -> str:
        self.about.append(str(message.content))
        return str(message.content)

    def all_short(self, messages: list[AnyMessage]) -> bool:
        texts = [self.text(message) for message in messages]
        return all(len(text) < 3 for text in texts)


def test_a_message_is_asked_about_once_and_its_copy_anew() -> None:
    asked = Asked()
    texts = PerMessage(asked.text)
    first, second = HumanMessage("a", id="1"), AIMessage("b", id="2")
    assert texts([first]) == ["a"]
    assert texts([first, second, first]) == ["a", "b", "a"]
    assert asked.about == ["a", "b", "a"]
    rewritten = second.model_copy(update={"content": "c"})
    assert texts([first, rewritten, first]) == ["a", "c", "a"]
    assert asked.about == ["a", "b", "a", "c"]


def test_a_shorter_history_and_what_follows_it() -> None:
    asked = Asked()
    texts = PerMessage(asked.text)
    one, two, three = (HumanMessage(text) for text in ("1", "2", "3"))
    assert texts([one, two]) == ["1", "2"]
    assert texts([two]) == ["2"]
    assert texts([two, three]) == ["2", "3"]
    assert texts([]) == []
    assert texts([three]) == ["3"]
    assert asked.about == ["1", "2", "2", "3", "3"]


def test_what_is_told_is_the_caller_s_own() -> None:
    texts = PerMessage(lambda message: str(message.content))
    message = HumanMessage("a")
    texts([message]).clear()
    assert texts([message]) == ["a"]


def test_a_history_that_has_grown_is_checked_where_it_has() -> None:
    asked = Asked()
    short = WellSoFar(asked.all_short)
    history: list[AnyMessage] = [HumanMessage("a"), AIMessage("b")]
    assert short(history)
    history.append(HumanMessage("c"))
    assert short(history)
    assert short(history)
    assert asked.about == ["a", "b", "c"]


def test_a_history_that_failed_is_checked_again_and_so_is_one_that_was_rewritten() -> None:
    asked = Asked()
    short = WellSoFar(asked.all_short)
    good, bad = HumanMessage("a"), HumanMessage("long")
    assert short([good])
    assert not short([good, bad])
    assert not short([good, bad])
    assert not short([bad])
    assert short([good.model_copy()])
    assert asked.about == ["a", "long", "long", "long", "a"]
    assert short([])
    assert short([good])
