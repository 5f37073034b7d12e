"""What the end of a subagent's graph means, and what the lead is told."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage

from skerry_runner.messages import MODEL_ERROR, RUN_ID, STOP
from skerry_runner.subagents.result import (
    Ending,
    SubagentStatus,
    cancelled,
    failed,
    failed_message,
    message_of,
    result_of,
    timed_out,
)
from skerry_runner.usage import Counts

FAULT = {
    "reason": "RateLimited",
    "endpoint": "https://x",
    "error": "RateLimitError",
    "message": "no",
    "attempts": 3,
}
PROMPT = HumanMessage("Count.", additional_kwargs={RUN_ID: "r"})


def ended(*messages: AnyMessage, **state: Any) -> tuple[str, str, str]:
    result = result_of({"messages": [PROMPT, *messages], **state}, "r")
    return result.status.value, result.reason, result.text


def test_an_answer() -> None:
    assert ended(AIMessage("42")) == ("completed", "EndTurn", "42")
    assert ended(AIMessage("Error: all went wrong")) == ("completed", "EndTurn", "Error: all went wrong")


@pytest.mark.parametrize("reason", ["TurnCapped", "SafetyCapped"])
def test_an_answer_that_was_capped_says_so(reason: str) -> None:
    stop = {"stop": {"run": "r", "reason": reason}} if reason == "TurnCapped" else {}
    last = AIMessage("so far", additional_kwargs={} if stop else {STOP: reason})
    status, told, text = ended(last, **stop)
    assert (status, told) == ("completed", reason)
    assert text == f"so far\n\n(The subagent was stopped: {reason}. This may be incomplete.)"


@pytest.mark.parametrize(
    ("messages", "state", "reason"),
    [
        ([AIMessage("")], {}, "EmptyAnswer"),
        ([AIMessage("gone", additional_kwargs={MODEL_ERROR: FAULT, STOP: "ModelError"})], {}, "RateLimited"),
        ([], {"stop": {"run": "r", "reason": "TurnCapped"}}, "TurnCapped"),
    ],
)
def test_what_is_no_answer(messages: list[AnyMessage], state: dict[str, Any], reason: str) -> None:
    status, told, text = ended(*messages, **state)
    assert (status, told) == ("failed", reason)
    assert text.startswith(f"Error: the subagent failed ({reason}): ")


def test_the_message_has_it_all_in_its_kwargs() -> None:
    used = Counts(turns=4, input=1, output=2, total=3)
    given: dict[str, Any] = {"call_id": "t1", "kind": "bash", "execution": "sub-1", "used": used}
    good = message_of(result_of({"messages": [PROMPT, AIMessage("42")]}, "r"), **given)
    assert (good.content, good.status, good.name, good.tool_call_id) == ("42", "success", "task", "t1")
    assert good.additional_kwargs == {
        "subagent_status": "completed", "subagent_type": "bash", "subagent_id": "sub-1", "subagent_reason": "EndTurn",
        "subagent_turns": 4, "subagent_usage": {"input": 1, "output": 2, "total": 3},
    }  # fmt: skip
    bad = message_of(failed("Broken", "it broke"), **given)
    assert (bad.status, bad.additional_kwargs["subagent_error"]) == ("error", "it broke")
    statuses = [
        message_of(r, **given).additional_kwargs["subagent_status"] for r in (timed_out(9, ""), cancelled())
    ]
    assert statuses == ["timed_out", "cancelled"]


def test_last_words_outlive_a_timeout() -> None:
    assert "What it said last: nearly there" in timed_out(9, "nearly there").text
    assert "said" not in timed_out(9, " ").text


def test_an_end_is_set_once() -> None:
    ending = Ending()
    first, late = timed_out(9, ""), failed("Broken", "late")
    assert ending.settle(first) is first
    assert ending.settle(late) is first
    assert ending.result is not None
    assert ending.result.status is SubagentStatus.TIMED_OUT


def test_a_refused_call_has_failed_whatever_its_text_says() -> None:
    refused = ToolMessage(
        "Task Succeeded", tool_call_id="t1", status="error", id="m1", additional_kwargs={"a": 1}
    )
    stamped = failed_message(refused)
    assert stamped.additional_kwargs == {"a": 1, "subagent_status": "failed"}
    assert (stamped.id, stamped.content, refused.additional_kwargs) == ("m1", refused.content, {"a": 1})
    told = ToolMessage(
        "x", tool_call_id="t1", status="error", additional_kwargs={"subagent_status": "timed_out"}
    )
    fine = ToolMessage("subagent_status: failed", tool_call_id="t1")
    assert failed_message(told) is told
    assert failed_message(fine) is fine
