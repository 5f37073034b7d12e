"""What an exception of a model client tells: class, status, code, texts, headers; its causes asked too. Pure.

Clients differ, so nothing is imported of them: names of classes and a few attributes that they share are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["Evidence", "evidence_of"]

_CAUSES_MAX = 8


@dataclass(frozen=True)
class Evidence:
    """`classes` are the names of the error's class and its bases, those of its causes included; texts are casefolded."""

    classes: frozenset[str]
    own_classes: frozenset[str]
    status: int | None
    codes: frozenset[str]
    text: str
    headers: Mapping[str, str]
    retry_after: float | None
    """Seconds, where the exception itself names them."""


def evidence_of(error: BaseException) -> Evidence:
    """Collect it; whatever lacks or has another type than expected counts for nothing."""
    chain = list(_chain(error))
    bodies = [body for link in chain for body in _bodies(link)]
    return Evidence(
        classes=frozenset(name for link in chain for name in _names(link)),
        own_classes=frozenset(_names(error)),
        status=next((status for link in chain if (status := _status(link)) is not None), None),
        codes=frozenset(_codes(chain, bodies)),
        text=_text(chain, bodies),
        headers=next((headers for link in chain if (headers := _headers(link))), {}),
        retry_after=_retry_after(chain, bodies),
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    for _ in range(_CAUSES_MAX):
        if seen is None:
            return
        yield seen
        seen = seen.__cause__


def _names(error: BaseException) -> Iterator[str]:
    return (kind.__name__ for kind in type(error).__mro__)


def _status(error: BaseException) -> int | None:
    for holder in (error, getattr(error, "response", None)):
        for name in ("status_code", "status", "code"):
            value = getattr(holder, name, None)
            value = getattr(value, "value", value)  # some clients give an HTTPStatus
            if isinstance(value, int) and 100 <= value <= 599:
                return value
    return None


def _bodies(error: BaseException) -> Iterator[Mapping[str, Any]]:
    """The error object of the response, unwrapped of its `error` key."""
    for name in ("body", "details"):
        body = getattr(error, name, None)
        if isinstance(body, list) and body:
            body = body[0]
        if isinstance(body, Mapping):
            inner = body.get("error")
            yield inner if isinstance(inner, Mapping) else body


def _codes(chain: list[BaseException], bodies: list[Mapping[str, Any]]) -> Iterator[str]:
    found = [getattr(link, name, None) for link in chain for name in ("code", "type")]
    found += [body.get(key) for body in bodies for key in ("code", "type", "status")]
    return (value.casefold() for value in found if isinstance(value, str))


def _text(chain: list[BaseException], bodies: list[Mapping[str, Any]]) -> str:
    said = [str(link) for link in chain]
    said += [str(body["message"]) for body in bodies if isinstance(body.get("message"), str)]
    return "\n".join(said).casefold()


def _headers(error: BaseException) -> dict[str, str]:
    headers = getattr(getattr(error, "response", None), "headers", None)
    if not isinstance(headers, Mapping):
        return {}
    return {str(name).lower(): str(value) for name, value in headers.items()}


def _retry_after(chain: list[BaseException], bodies: list[Mapping[str, Any]]) -> float | None:
    for link in chain:
        value = getattr(link, "retry_after", None)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    # google.rpc.RetryInfo stands among the details of the error object.
    for body in bodies:
        for detail in body.get("details") or ():
            delay = detail.get("retryDelay") if isinstance(detail, Mapping) else None
            if isinstance(delay, str) and delay.endswith("s"):
                try:
                    return float(delay[:-1])
                except ValueError:
                    continue
    return None
