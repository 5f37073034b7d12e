"""Snapshots: what of a conversation is kept, and what becomes of two."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from skerry_runner.memory.flags import corrects, reinforces
from skerry_runner.memory.snapshot import Exchange, Snapshot, SnapshotKey, folded, snapshot_of
from skerry_runner.messages import HIDDEN, MODEL_ERROR, ORIGINAL, RUN_ID, STOP
from skerry_testing.memories import NOON, snapshot

KEY = SnapshotKey("t", "u", "lead")


def said(text: Any, *, run: str = "r", id_: str = "h", original: Any = None) -> HumanMessage:
    kwargs = {} if original is None else {ORIGINAL: original}
    return HumanMessage(text, id=id_, additional_kwargs={RUN_ID: run, **kwargs})


def answer(text: Any, **kwargs: Any) -> AIMessage:
    return AIMessage(text, additional_kwargs=kwargs)


def taken(*messages: BaseMessage) -> Snapshot | None:
    return snapshot_of(messages, KEY, run="r", now=NOON, redact=lambda text: text.replace("s3cret", "***"))


def fresh(*messages: BaseMessage) -> list[tuple[str, str]]:
    made = taken(*messages)
    return [(e.user, e.answer) for e in made.fresh] if made else []


CALL = {"name": "bash", "args": {}, "id": "c"}


def test_the_user_s_text_and_the_final_answer_alone() -> None:
    messages = [
        said("hi"), AIMessage("let me see", tool_calls=[CALL]), ToolMessage("out", tool_call_id="c"),
        HumanMessage("a reminder", additional_kwargs={HIDDEN: True}), answer("done"),
    ]  # fmt: skip
    assert fresh(*messages) == [("hi", "done")]


def test_the_block_of_uploads_is_not_the_user_s() -> None:
    assert fresh(said("<uploads>…</uploads>\n\nsum it up", original="sum it up"), answer("ok")) == [
        ("sum it up", "ok")
    ]
    blocks = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
    assert fresh(said(["x"], original=blocks), answer("ok")) == [("look", "ok")]
    # Files alone say nothing of the user, nor does what was answered to them.
    assert taken(said("<uploads>…</uploads>", original=" "), answer("ok")) is None


@pytest.mark.parametrize("flag", [STOP, MODEL_ERROR, HIDDEN])
def test_a_guard_s_words_are_nobody_s(flag: str) -> None:
    assert taken(said("hi"), answer("[FORCED STOP]", **{flag: "LoopCapped"})) is None
    assert taken(said("hi"), answer("first"), answer("[FORCED STOP]", **{flag: "LoopCapped"})) is None


@pytest.mark.parametrize(
    "messages",
    [
        [], [said("hi")], [answer("hi")], [said("hi"), answer(" ")],
        [said("hi"), AIMessage("", invalid_tool_calls=[{"name": "x", "args": "", "id": "c", "error": None, "type": "invalid_tool_call"}])],
        [HumanMessage("sum", name="summary", additional_kwargs={RUN_ID: "r"}), answer("ok")],
        [said("hi", run="another"), answer("ok")],
    ],
)  # fmt: skip
def test_what_was_not_answered_is_not_kept(messages: list[BaseMessage]) -> None:
    assert taken(*messages) is None


def test_exchanges_of_other_runs_only_help_to_understand() -> None:
    old = [m for n in range(5) for m in (said(f"old {n}", run=f"r{n}", id_=f"h{n}"), answer("x" * 3000))]
    made = taken(*old, said("new"), answer("ok"))
    assert made is not None
    assert [e.user for e in made.earlier] == ["old 2", "old 3", "old 4"]
    assert max(len(e.answer) for e in made.earlier) == 2000
    assert [e.user for e in made.fresh] == ["new"]


def test_texts_are_redacted_bounded_and_can_be_stored() -> None:
    ((user, text),) = fresh(said("my key is s3cret\x00\ud800"), answer("y" * 50_000))
    assert user == "my key is ***?"
    assert len(text) == 20_000


def test_flags_are_of_what_the_user_says_now() -> None:
    made = taken(
        said("No, that's wrong.", run="old", id_="h0"), answer("sorry"), said("thanks"), answer("ok")
    )
    assert made is not None
    assert (made.correction, made.reinforcement) == (False, False)
    again = taken(said("No, that's wrong."), answer("That's right, perfect."))
    assert again is not None
    assert (again.correction, again.reinforcement) == (True, False)


@pytest.mark.parametrize(
    "text",
    ["That's not right", "no, use tabs", "You misunderstood me", "I meant the other file", "please try again",
     "Don't do that again", "You are wrong here", "不对，重做", "so\nWrong: it is 5"],
)  # fmt: skip
def test_corrections(text: str) -> None:
    assert corrects([text])


@pytest.mark.parametrize(
    "text", ["Perfect, thanks!", "exactly what I wanted", "You're right", "that’s better", "很好"]
)
def test_reinforcements(text: str) -> None:
    assert reinforces([text])


@pytest.mark.parametrize(
    "text", ["Now write the report", "There is no file", "What is wrong with my code?", "notes"]
)
def test_ordinary_words_are_neither(text: str) -> None:
    assert (corrects([text]), reinforces([text])) == (False, False)


def test_the_later_wins_and_flags_add_up() -> None:
    old = snapshot("a", run="r1", correction=True)
    new = snapshot("b", run="r2", minutes=1, reinforcement=True)
    for both in (folded(old, new), folded(new, old)):
        assert (both.run, both.time) == ("r2", new.time)
        assert (both.correction, both.reinforcement) == (True, True)
        assert [e.user for e in both.fresh] == ["a", "b"]


def test_no_exchange_that_waits_is_lost_to_a_later_snapshot() -> None:
    old = snapshot("a", run="r1")
    seen = Exchange(id="r1/a", user="a, cut", answer="ok")
    new = snapshot("b", run="r2", minutes=1, earlier=(seen,))
    both = folded(old, new)
    assert [e.user for e in both.fresh] == ["a", "b"]
    assert both.earlier == ()


def test_the_same_exchange_again_is_the_later_one() -> None:
    again = snapshot("a", run="r1", minutes=1)
    newer = again.model_copy(update={"fresh": (again.fresh[0].model_copy(update={"answer": "better"}),)})
    assert [e.answer for e in folded(snapshot("a", run="r1"), newer).fresh] == ["better"]
