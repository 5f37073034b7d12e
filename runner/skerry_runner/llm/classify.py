"""From an exception to what it means: quota, auth, burst, transient, busy, generic, asked in this order. Pure.

What a provider says in words counts only where nothing more solid speaks: a fault of the server that mentions
permissions is still the server's.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from skerry_api.phases import ModelErrorReason
from skerry_runner.llm.evidence import Evidence, evidence_of
from skerry_runner.llm.failure import Failure, FailureKind
from skerry_runner.llm.retryafter import asked_wait
from skerry_runner.llm.words import (
    AUTH_CODES,
    AUTH_TEXTS,
    BURST_CODES,
    BUSY_TEXTS,
    EMPTY_TEXTS,
    FILTER_CODES,
    OVERFLOW_CODES,
    QUOTA_CODES,
    QUOTA_TEXTS,
    TRANSIENT_CLASSES,
    TRANSIENT_CODES,
    any_in,
)

__all__ = ["MESSAGE_MAX", "classify"]

MESSAGE_MAX = 1000
_Verdict = tuple[FailureKind, ModelErrorReason]
_RETRIED_STATUSES = frozenset({408, 409, 425, 429})


def classify(error: BaseException, now: datetime) -> Failure:
    """What became of a model call that raised `error`."""
    seen = evidence_of(error)
    kind, reason = next(verdict for rule in _RULES if (verdict := rule(seen)) is not None)
    wait = asked_wait(seen.headers, now)
    name = type(error).__name__
    return Failure(
        kind=kind,
        reason=reason,
        error=name,
        message=(str(error).strip() or name)[:MESSAGE_MAX],
        status=seen.status,
        retry_after=wait if wait is not None else _never_negative(seen.retry_after),
        stalled="StreamChunkTimeoutError" in seen.classes,
    )


def _never_negative(seconds: float | None) -> float | None:
    return None if seconds is None else max(0.0, seconds)


def _is_server_fault(seen: Evidence) -> bool:
    return seen.status is not None and seen.status >= 500


def _transient_class(seen: Evidence) -> ModelErrorReason | None:
    for name, reason in TRANSIENT_CLASSES:
        if name in seen.classes:
            return reason
    # A missing first generation, not any index that somebody got wrong further down.
    return ModelErrorReason.EMPTY_RESPONSE if "IndexError" in seen.own_classes else None


def _words_count(seen: Evidence) -> bool:
    """Whether texts may decide: a status that leaves it open, or neither status nor a class that says more."""
    return _transient_class(seen) is None if seen.status is None else not _is_server_fault(seen)


def _quota(seen: Evidence) -> _Verdict | None:
    said = _words_count(seen) and any_in(QUOTA_TEXTS, seen.text)
    if seen.status == 402 or seen.codes & QUOTA_CODES or said:
        return FailureKind.QUOTA, ModelErrorReason.QUOTA_EXCEEDED
    return None


def _auth(seen: Evidence) -> _Verdict | None:
    said = _words_count(seen) and seen.status not in _RETRIED_STATUSES and any_in(AUTH_TEXTS, seen.text)
    classes = {
        "ModelAuthenticationError",
        "ModelPermissionDeniedError",
        "AuthenticationError",
        "PermissionDeniedError",
    }
    if seen.status in {401, 403} or seen.classes & classes or seen.codes & AUTH_CODES or said:
        return FailureKind.AUTH, ModelErrorReason.AUTHENTICATION_FAILED
    return None


def _burst(seen: Evidence) -> _Verdict | None:
    if seen.codes & BURST_CODES or any_in(tuple(BURST_CODES), seen.text):
        return FailureKind.BURST, ModelErrorReason.BURST_LIMITED
    return None


def _request(seen: Evidence) -> _Verdict | None:
    """What only the request can be blamed for, and must not be mistaken for a busy server by its words."""
    if "ContextOverflowError" in seen.classes or seen.codes & OVERFLOW_CODES:
        return FailureKind.GENERIC, ModelErrorReason.CONTEXT_OVERFLOW
    if "ModelRefusalError" in seen.classes or seen.codes & FILTER_CODES:
        return FailureKind.GENERIC, ModelErrorReason.CONTENT_FILTERED
    return None


def _class(seen: Evidence) -> _Verdict | None:
    reason = _transient_class(seen)
    if reason is ModelErrorReason.SERVER_ERROR:
        return _status(seen) or (FailureKind.TRANSIENT, reason)
    return None if reason is None else (FailureKind.TRANSIENT, reason)


def _status(seen: Evidence) -> _Verdict | None:
    match seen.status:
        case 429:
            return FailureKind.TRANSIENT, ModelErrorReason.RATE_LIMITED
        case 408 | 504:
            return FailureKind.TRANSIENT, ModelErrorReason.TIMED_OUT
        case 409 | 425:
            return FailureKind.TRANSIENT, ModelErrorReason.SERVER_ERROR
        case 503 | 529:
            return FailureKind.TRANSIENT, ModelErrorReason.OVERLOADED
        case int(status) if status >= 500:
            return FailureKind.TRANSIENT, ModelErrorReason.SERVER_ERROR
        case _:
            return None


def _code(seen: Evidence) -> _Verdict | None:
    if seen.status is not None and 400 <= seen.status < 500:
        return None
    reason = next((TRANSIENT_CODES[code] for code in sorted(seen.codes) if code in TRANSIENT_CODES), None)
    return None if reason is None else (FailureKind.TRANSIENT, reason)


def _busy(seen: Evidence) -> _Verdict | None:
    if any_in(EMPTY_TEXTS, seen.text):
        return FailureKind.TRANSIENT, ModelErrorReason.EMPTY_RESPONSE
    if any_in(BUSY_TEXTS, seen.text):
        return FailureKind.BUSY, ModelErrorReason.OVERLOADED
    return None


def _generic(seen: Evidence) -> _Verdict:
    if seen.status == 404 or "ModelNotFoundError" in seen.classes:
        return FailureKind.GENERIC, ModelErrorReason.MODEL_NOT_FOUND
    if (seen.status is not None and 400 <= seen.status < 500) or "ModelInvalidRequestError" in seen.classes:
        return FailureKind.GENERIC, ModelErrorReason.INVALID_REQUEST
    return FailureKind.GENERIC, ModelErrorReason.UNCLASSIFIED


_RULES: tuple[Callable[[Evidence], _Verdict | None], ...] = (
    _quota,
    _auth,
    _burst,
    _request,
    _class,
    _status,
    _code,
    _busy,
    _generic,
)
