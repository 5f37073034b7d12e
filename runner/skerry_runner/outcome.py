"""How an epoch ends: exceptions into outcomes, texts into what status may hold. Pure.

RunEnded          ends the run with an outcome of its own; passes every guard
└─ InvalidDocument   the document can't be carried out: InvalidSpec, with the field's path
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

from pydantic import BaseModel

from skerry_api.phases import OutcomeClass
from skerry_api.report import ANSWER_MAX, Outcome, Question
from skerry_runner.ports import CancelReason

__all__ = [
    "InvalidDocument", "Redactor", "RunEnded", "app_error", "awaiting", "budget_exceeded", "cancelled", "cut_bytes", "mapped", "model_error", "model_failed", "public_endpoint", "redacted", "sandbox_lost", "succeeded",
]  # fmt: skip

M = TypeVar("M", bound=BaseModel)
MESSAGE_MAX = 2048
REASON_MAX = 64
_SHORTEST_SECRET = 6
"""Shorter ones would blank out ordinary words."""


class RunEnded(Exception):
    """Ends the run at once with this outcome."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome


class InvalidDocument(RunEnded):
    """Something in the document can't be used. `path` is the field's, `line` counts from 1 in a script."""

    def __init__(self, reason: str, path: str, problem: str) -> None:
        super().__init__(_outcome(OutcomeClass.INVALID_SPEC, reason, f"{path}: {problem}"))


class Redactor:
    """Replaces secrets by `***` wherever a text leaves the process, also where they stand as JSON or Python write them.

    Redact first, then cut: of a secret at the place of the cut the beginning would stay (`cut`, `ended`).
    """

    def __init__(self, secrets: Iterable[str | None] = ()) -> None:
        # The longest first: one secret may be part of another.
        self._secrets = sorted(
            {s for s in secrets if s and len(s) >= _SHORTEST_SECRET}, key=len, reverse=True
        )
        forms = {form for secret in self._secrets for form in _forms(secret)}
        self._forms = sorted(forms, key=len, reverse=True)
        self._escaped = sorted({json.dumps(form, ensure_ascii=False)[1:-1] for form in forms})

    def __bool__(self) -> bool:
        return bool(self._secrets)

    def found_in_json(self, text: str) -> bool:
        """Whether a string in this JSON, written with `ensure_ascii=False`, may hold a secret."""
        return any(escaped in text for escaped in self._escaped)

    def __call__(self, text: str) -> str:
        for form in self._forms:
            text = text.replace(form, "***")
        return text

    def cut(self, text: str, most: int) -> str:
        """At most so many characters of the text, redacted."""
        return self(text)[:most]

    def ended(self, text: str) -> str:
        """A redacted text that was cut before, without the beginning of a secret in which the cut fell."""
        for form in self._forms:
            for length in range(min(len(form) - 1, len(text)), 0, -1):
                if text.endswith(form[:length]):
                    return text[:-length]
        return text


def _forms(secret: str) -> tuple[str, ...]:
    return (
        secret,
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
    )


def redacted(model: M, redact: Redactor) -> M:
    """The model with every text in it redacted."""
    if not redact:
        return model
    return type(model).model_validate(mapped(model.model_dump(mode="json", by_alias=True), redact))


def mapped(value: Any, redact: Callable[[str], str]) -> Any:
    """JSON with every string redacted, names of fields apart."""
    match value:
        case str():
            return redact(value)
        case dict():
            return {key: mapped(item, redact) for key, item in value.items()}
        case list() | tuple():
            return [mapped(item, redact) for item in value]
        case _:
            return value


def cut_bytes(text: str, limit: int = ANSWER_MAX) -> str:
    """The longest beginning of `text` that fits `limit` bytes of UTF-8; lone surrogates become `?`."""
    raw = text.encode("utf-8", "replace")
    return raw[:limit].decode("utf-8", "ignore")


def public_endpoint(url: str) -> str:
    """A URL without user, password, query and fragment: those may hold credentials."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return urlunsplit((parts.scheme, host, parts.path, "", ""))[:MESSAGE_MAX]


def _outcome(class_: OutcomeClass, reason: str, message: str, endpoint: str | None = None) -> Outcome:
    return Outcome(
        class_=class_, reason=reason[:REASON_MAX], message=cut_bytes(message, MESSAGE_MAX), endpoint=endpoint
    )


def app_error(reason: str, message: str) -> Outcome:
    """The agent or Skerry itself failed."""
    return _outcome(OutcomeClass.APP_ERROR, reason, message)


def model_error(error: BaseException, endpoint: str | None, redact: Callable[[str], str] = str) -> Outcome:
    """The model couldn't be called; the reason is the exception's class."""
    name = type(error).__name__
    return _outcome(OutcomeClass.MODEL_ERROR, name, redact(str(error)) or name, endpoint)


def model_failed(reason: str, message: str, endpoint: str) -> Outcome:
    """The model could not be called; the reason is a ModelErrorReason."""
    return _outcome(OutcomeClass.MODEL_ERROR, reason, message, endpoint)


def budget_exceeded() -> Outcome:
    """The run has cost as much as it may."""
    message = "limits.maxCostMicroUSD is used up; status.runner.usage says by what"
    return _outcome(OutcomeClass.BUDGET_EXCEEDED, "CostLimit", message)


def sandbox_lost(message: str) -> Outcome:
    """There is no sandbox any more, and none will come."""
    return _outcome(OutcomeClass.SANDBOX_LOST, "SandboxLost", message)


def succeeded() -> Outcome:
    return Outcome(class_=OutcomeClass.SUCCEEDED)


def awaiting(question: Question) -> Outcome:
    """The epoch ends with an open question."""
    return _outcome(OutcomeClass.AWAITING_INPUT, "AwaitingInput", f"question {question.id} awaits an answer")


def cancelled(reason: CancelReason) -> Outcome:
    """The outcome of a run that was told to stop."""
    match reason:
        case CancelReason.CANCELLED:
            return _outcome(OutcomeClass.CANCELLED, "Cancelled", "the run was cancelled")
        case CancelReason.INTERRUPTED:
            return _outcome(OutcomeClass.INTERRUPTED, "Interrupted", "the runner was told to stop")
        case CancelReason.FENCED:
            return _outcome(OutcomeClass.INTERRUPTED, "Fenced", "another epoch has taken over")
