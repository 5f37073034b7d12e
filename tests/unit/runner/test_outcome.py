"""Outcomes, cuts, secrets, endpoints; what a final state means."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from skerry_api.phases import OutcomeClass, StopReason
from skerry_api.report import ANSWER_MAX
from skerry_runner.ending import end_of
from skerry_runner.messages import MODEL_ERROR, RUN_ID, STOP
from skerry_runner.outcome import Redactor, app_error, cut_bytes, model_error, public_endpoint


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        ("abc", 3, "abc"), ("abcd", 3, "abc"), ("é", 1, ""), ("aé", 2, "a"), ("€€", 5, "€"), ("😀", 3, ""),
        ("😀a", 4, "😀"), ("a\ud800b", 9, "a?b"), ("", 5, ""),
    ],
)  # fmt: skip
def test_texts_are_cut_on_a_character(text: str, limit: int, cut: str) -> None:
    assert cut_bytes(text, limit) == cut


def test_no_answer_is_longer_than_the_status_allows() -> None:
    assert len(cut_bytes("€" * ANSWER_MAX).encode()) <= ANSWER_MAX


def test_secrets_are_blanked_out_the_longest_first() -> None:
    redact = Redactor(["secret-1", "secret-1-more", None, "", "abc"])
    assert redact("x secret-1-more y secret-1 z abc") == "x *** y *** z abc"


@pytest.mark.parametrize(
    ("url", "public"),
    [
        ("https://user:pass@host:8443/v1?key=a#b", "https://host:8443/v1"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("https://a@b@host/v1", "https://host/v1"),
    ],
)
def test_endpoints_lose_their_credentials(url: str, public: str) -> None:
    assert public_endpoint(url) == public


def test_messages_and_reasons_fit_their_fields() -> None:
    outcome = app_error("R" * 100, "é" * 4000)
    assert (len(outcome.reason), len(outcome.message)) == (64, 1024)
    assert model_error(ValueError(), "e").message == "ValueError"


START = HumanMessage("go", additional_kwargs={RUN_ID: "r"})
CALLS: Any = [{"name": "ls", "args": {}, "id": "1"}]
OTHER: list[AnyMessage] = [HumanMessage("before", additional_kwargs={RUN_ID: "q"}), AIMessage("old")]


@pytest.mark.parametrize(
    ("messages", "stop", "class_", "reason", "answer"),
    [
        ([AIMessage("yes")], None, OutcomeClass.SUCCEEDED, StopReason.END_TURN, "yes"),
        ([AIMessage("yes")], "q", OutcomeClass.SUCCEEDED, StopReason.END_TURN, "yes"),
        ([AIMessage("")], None, OutcomeClass.APP_ERROR, None, None),
        ([], None, OutcomeClass.APP_ERROR, None, None),
        ([AIMessage("so far", tool_calls=CALLS), ToolMessage("x", tool_call_id="1")], "r",
         OutcomeClass.SUCCEEDED, StopReason.TURN_CAPPED, "so far"),
        ([AIMessage("", tool_calls=CALLS)], "r", OutcomeClass.SUCCEEDED, StopReason.TURN_CAPPED, None),
        ([AIMessage([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}])], None,
         OutcomeClass.SUCCEEDED, StopReason.END_TURN, "yes"),
    ],
)  # fmt: skip
def test_what_a_final_state_means(
    messages: list[AnyMessage],
    stop: str | None,
    class_: OutcomeClass,
    reason: StopReason | None,
    answer: str | None,
) -> None:
    state: dict[str, Any] = {"messages": [*OTHER, START, *messages]}
    if stop is not None:
        state["stop"] = {"run": stop, "reason": "TurnCapped"}
    outcome, stop_reason, said, _ = end_of(state, "r")
    assert (outcome.class_, stop_reason, said) == (class_, reason, answer)


def ending(message: AIMessage) -> tuple[OutcomeClass, str, StopReason | None, str | None]:
    outcome, stop_reason, said, _ = end_of({"messages": [START, message]}, "r")
    return outcome.class_, outcome.reason, stop_reason, said


CUT: dict[str, Any] = {"finish_reason": "length"}
FAILED = {"reason": "RateLimited", "endpoint": "http://h", "error": "E", "message": "slow", "attempts": 3}


@pytest.mark.parametrize(
    ("message", "reason", "answer"),
    [
        (AIMessage("half", response_metadata=CUT), StopReason.LENGTH_CAPPED, "half"),
        (AIMessage("half", response_metadata={"stop_reason": "max_tokens"}), StopReason.LENGTH_CAPPED, "half"),
        (AIMessage("x", additional_kwargs={STOP: "SafetyCapped"}), StopReason.SAFETY_CAPPED, "x"),
        (AIMessage("x", additional_kwargs={STOP: "SafetyCapped"}, response_metadata=CUT), StopReason.SAFETY_CAPPED, "x"),
        (AIMessage("x", additional_kwargs={STOP: True}), StopReason.END_TURN, "x"),
        (AIMessage("x", additional_kwargs={STOP: "Nonsense"}), StopReason.END_TURN, "x"),
    ],
)  # fmt: skip
def test_the_last_message_says_why_it_is_the_last(
    message: AIMessage, reason: StopReason, answer: str
) -> None:
    assert ending(message) == (OutcomeClass.SUCCEEDED, "", reason, answer)


def test_a_cut_before_any_text_is_no_answer() -> None:
    outcome, stop_reason, said, _ = end_of({"messages": [START, AIMessage("", response_metadata=CUT)]}, "r")
    assert (outcome.reason, stop_reason, said) == ("EmptyAnswer", None, None)
    assert "a limit of tokens cut it" in outcome.message


def test_an_answer_in_place_of_the_model_s_is_its_error() -> None:
    message = AIMessage(
        "The model could not be called", additional_kwargs={STOP: "ModelError", MODEL_ERROR: FAILED}
    )
    outcome, stop_reason, said, _ = end_of(
        {"messages": [START, AIMessage("so far", tool_calls=CALLS), message]}, "r"
    )
    assert (outcome.class_, outcome.reason, outcome.endpoint) == (
        OutcomeClass.MODEL_ERROR,
        "RateLimited",
        "http://h",
    )
    assert (outcome.message, stop_reason, said) == ("E: slow (attempts: 3)", None, None)


def test_an_error_in_an_earlier_answer_is_past() -> None:
    message = AIMessage("no", additional_kwargs={STOP: "ModelError", MODEL_ERROR: FAILED})
    outcome, stop_reason, said, _ = end_of(
        {"messages": [START, message, HumanMessage("go on"), AIMessage("yes")]}, "r"
    )
    assert (outcome.class_, stop_reason, said) == (OutcomeClass.SUCCEEDED, StopReason.END_TURN, "yes")


def test_the_message_that_is_the_answer_is_named() -> None:
    said = [AIMessage("first", id="m1", tool_calls=CALLS), AIMessage("last", id="m2")]
    assert end_of({"messages": [START, *said]}, "r").answer_id == "m2"
    capped = {
        "messages": [START, *said, AIMessage("", id="m3")],
        "stop": {"run": "r", "reason": "TurnCapped"},
    }
    assert end_of(capped, "r")[2:] == ("last", "m2")
    assert end_of({"messages": [START, AIMessage("", id="m4")]}, "r").answer_id is None
