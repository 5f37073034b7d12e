"""Questions of the agent to people: which call asks one, under which id, and what stands in a message beside it. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, ToolCall

from skerry_api.agentprofile import ToolName
from skerry_api.phases import QuestionType
from skerry_api.report import QUESTION_CONTEXT_MAX, QUESTION_MAX, Question
from skerry_runner.options import options_of

__all__ = ["ASK", "BadQuestion", "comes_after_question", "is_question", "question_id", "question_of"]

ASK = ToolName.ASK_CLARIFICATION.value
_TYPES = {
    "missing_info": QuestionType.MISSING_INFO,
    "ambiguous_requirement": QuestionType.AMBIGUOUS_REQUIREMENT,
    "approach_choice": QuestionType.APPROACH_CHOICE,
    "risk_confirmation": QuestionType.RISK_CONFIRMATION,
    "suggestion": QuestionType.SUGGESTION,
}


class BadQuestion(Exception):
    """The call asks nothing; the message is for the model."""


def question_id(run: str, message_id: str, index: int) -> str:
    """The same for every epoch that comes to this call: of the run, the AIMessage and the call's place in it."""
    digest = hashlib.sha256(f"{run}\n{message_id}\n{index}".encode("utf-8", "replace")).hexdigest()
    return f"q-{digest[:16]}"


def question_of(args: Mapping[str, Any], id_: str = "?") -> Question:
    """The question that a call's arguments ask, cut to its bounds. Models write options in many ways; all will do.

    Raises:
        BadQuestion: there is no question in them.
    """
    text = _text(args.get("question"), QUESTION_MAX)
    if not text:
        raise BadQuestion(f"{ASK} needs a question: give its text as `question`")
    kind = str(args.get("clarification_type") or "").strip().lower()
    return Question(
        id=id_,
        type=_TYPES.get(kind, QuestionType.MISSING_INFO),
        text=text,
        context=_text(args.get("context"), QUESTION_CONTEXT_MAX) or None,
        options=options_of(args.get("options")),
    )


def is_question(call: ToolCall) -> bool:
    """Whether the call asks people something."""
    if call["name"] != ASK:
        return False
    try:
        question_of(call["args"])
    except BadQuestion:
        return False
    return True


def comes_after_question(messages: Sequence[AnyMessage], call_id: str) -> bool:
    """Whether a question stands before this call in the newest message that makes it."""
    for message in reversed(messages):
        if not isinstance(message, AIMessage):
            continue
        before: list[ToolCall] = []
        for call in message.tool_calls:
            if call["id"] == call_id:
                return any(is_question(each) for each in before)
            before.append(call)
    return False


def _text(value: Any, most: int) -> str:
    if not isinstance(value, str):
        return ""
    # Lone surrogates can't be said in JSON.
    text = value.strip().encode("utf-8", "replace").decode()
    return text if len(text) <= most else text[: most - 1] + "…"
