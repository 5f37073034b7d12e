"""What exceptions of model clients mean: real clients' classes, the scripted model's, and bare ones."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

import httpx
import httpx2
import openai
import pytest
from langchain_core.exceptions import ContextOverflowError, ModelRefusalError
from langchain_openai import StreamChunkTimeoutError

from skerry_runner.llm.classify import MESSAGE_MAX, classify
from skerry_runner.llm.failure import FailureKind
from skerry_runner.models.scripted.faults import fault_of
from skerry_runner.models.scripted.schema import ScriptError

NOW = datetime(2026, 5, 8, 12, tzinfo=UTC)
REQUEST = httpx2.Request("POST", "http://127.0.0.1/v1")


def scripted(**fields: Any) -> Exception:
    return fault_of(ScriptError.model_validate(fields))


def status_error(
    status: int, message: str = "x", *, headers: dict[str, str] | None = None, **body: Any
) -> Exception:
    """As the OpenAI client raises it."""
    response = httpx2.Response(status, headers=headers, request=REQUEST)
    kinds = {
        400: openai.BadRequestError, 401: openai.AuthenticationError, 403: openai.PermissionDeniedError,
        404: openai.NotFoundError, 409: openai.ConflictError, 422: openai.UnprocessableEntityError,
        429: openai.RateLimitError,
    }  # fmt: skip
    kind = kinds.get(status, openai.InternalServerError if status >= 500 else openai.APIStatusError)
    return kind(message, response=response, body={"message": message, **body})


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


class ResourceExhausted(Exception):
    """As Google's client has it: the status is an attribute `code`."""

    code = 429

    def __init__(self) -> None:
        super().__init__("429 slow down")
        self.details = {
            "error": {
                "status": "RESOURCE_EXHAUSTED",
                "details": [{"@type": "x"}, {"retryDelay": "37s"}],
            }
        }


class AnthropicMidStream(Exception):
    """An error event in a stream whose status was 200."""

    status_code = 200
    body: ClassVar[Any] = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


CASES: list[tuple[Exception, str, str]] = [
    # Quota, also where a 429 or 403 carries it.
    (status_error(429, "You exceeded your current quota, check your plan"), "quota", "QuotaExceeded"),
    (status_error(429, code="insufficient_quota"), "quota", "QuotaExceeded"),
    (status_error(403, "账户余额不足"), "quota", "QuotaExceeded"),
    (status_error(402), "quota", "QuotaExceeded"),
    (scripted(status=429, code="insufficient_quota"), "quota", "QuotaExceeded"),
    (ValueError("Your credit balance is too low"), "quota", "QuotaExceeded"),
    # Auth.
    (status_error(401, "Incorrect API key provided"), "auth", "AuthenticationFailed"),
    (status_error(403), "auth", "AuthenticationFailed"),
    (status_error(400, "API key not valid. Please pass a valid API key."), "auth", "AuthenticationFailed"),
    (scripted(status=401), "auth", "AuthenticationFailed"),
    (ValueError("鉴权失败"), "auth", "AuthenticationFailed"),
    # Burst.
    (status_error(429, "slow", code="limit_burst_rate"), "burst", "BurstLimited"),
    (scripted(status=429, code="limit_burst_rate"), "burst", "BurstLimited"),
    (ValueError("Error code: 429 - {'code': 'limit_burst_rate'}"), "burst", "BurstLimited"),
    # Classes.
    (openai.APITimeoutError(REQUEST), "transient", "ModelTimeout"),
    (openai.APIConnectionError(message="Connection error.", request=REQUEST), "transient", "ConnectionFailed"),
    (StreamChunkTimeoutError(5.0), "transient", "ModelTimeout"),
    (httpx.ReadError(""), "transient", "ConnectionFailed"),
    (httpx2.ReadError(""), "transient", "ConnectionFailed"),
    (httpx.RemoteProtocolError("incomplete chunked read"), "transient", "ConnectionFailed"),
    (httpx.ConnectTimeout("late"), "transient", "ModelTimeout"),
    (ConnectionResetError(104, "Connection reset by peer"), "transient", "ConnectionFailed"),
    (TimeoutError(), "transient", "ModelTimeout"),
    (IndexError("list index out of range"), "transient", "EmptyResponse"),
    (scripted(kind="timeout"), "transient", "ModelTimeout"),
    (scripted(kind="connection"), "transient", "ConnectionFailed"),
    (scripted(kind="reset"), "transient", "ConnectionFailed"),
    (caused(RuntimeError("the client gave up"), httpx.ReadTimeout("late")), "transient", "ModelTimeout"),
    # Statuses.
    (status_error(408), "transient", "ModelTimeout"),
    (status_error(409), "transient", "ServerError"),
    (status_error(425), "transient", "ServerError"),
    (status_error(429), "transient", "RateLimited"),
    (status_error(500), "transient", "ServerError"),
    (status_error(502), "transient", "ServerError"),
    (status_error(503), "transient", "Overloaded"),
    (status_error(504), "transient", "ModelTimeout"),
    (status_error(529), "transient", "Overloaded"),
    (scripted(status=503), "transient", "Overloaded"),
    (ResourceExhausted(), "transient", "RateLimited"),
    # Codes in the midst of a stream.
    (AnthropicMidStream("Overloaded"), "transient", "Overloaded"),
    (openai.APIError("An error occurred", REQUEST, body={"code": "server_error"}), "transient", "ServerError"),
    # Words.
    (ValueError("The server is busy, please wait"), "busy", "Overloaded"),
    (ValueError("当前服务繁忙"), "busy", "Overloaded"),
    (status_error(400, "Too many requests in flight"), "busy", "Overloaded"),
    (ValueError("No generations found in stream."), "transient", "EmptyResponse"),
    # The rest.
    (status_error(400), "generic", "InvalidRequest"),
    (status_error(422), "generic", "InvalidRequest"),
    (status_error(404), "generic", "ModelNotFound"),
    (scripted(status=404), "generic", "ModelNotFound"),
    (scripted(status=400), "generic", "InvalidRequest"),
    (status_error(400, code="context_length_exceeded"), "generic", "ContextOverflow"),
    (ContextOverflowError("try again later with less"), "generic", "ContextOverflow"),
    (status_error(400, "filtered", code="content_filter"), "generic", "ContentFiltered"),
    (ModelRefusalError(), "generic", "ContentFiltered"),
    (ValueError("what?"), "generic", "Unclassified"),
    (KeyError("choices"), "generic", "Unclassified"),
    (caused(ValueError("what?"), IndexError("somebody's own")), "generic", "Unclassified"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "kind", "reason"), CASES)
def test_what_it_means(error: Exception, kind: str, reason: str) -> None:
    failure = classify(error, NOW)
    assert (failure.kind, failure.reason) == (kind, reason)
    assert failure.retriable is (kind in {"burst", "transient", "busy"})
    assert failure.counts is (kind in {"transient", "busy"})


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        # Words do not overrule a fault of the server or a broken connection.
        (status_error(500, "permission denied on /var/cache"), "transient"),
        (status_error(503, "billing service unavailable"), "transient"),
        (openai.APIConnectionError(message="Permission denied", request=REQUEST), "transient"),
        # But its code does, and 429 is no matter of keys.
        (status_error(500, code="insufficient_quota"), "quota"),
        (status_error(429, "too many unauthorized requests"), "transient"),
    ],
)
def test_words_count_only_where_nothing_solid_speaks(error: Exception, kind: str) -> None:
    assert classify(error, NOW).kind == kind


def test_what_it_keeps_of_the_exception() -> None:
    failure = classify(status_error(429, "m" * 5000, headers={"Retry-After": "7"}), NOW)
    assert (failure.error, failure.status, failure.retry_after) == ("RateLimitError", 429, 7.0)
    assert len(failure.message) == MESSAGE_MAX
    assert classify(TimeoutError(), NOW).message == "TimeoutError"


@pytest.mark.parametrize(
    ("error", "seconds"),
    [
        (scripted(status=429, retryAfterSeconds=2), 2.0),
        (scripted(kind="reset", retryAfterSeconds=3), 3.0),
        (ResourceExhausted(), 37.0),
        (status_error(503, headers={"retry-after-ms": "1500", "retry-after": "9"}), 1.5),
        (status_error(503, headers={"retry-after": "Fri, 08 May 2026 12:00:30 GMT"}), 30.0),
        (caused(ValueError("wrapped"), status_error(503, headers={"retry-after": "4"})), 4.0),
        (status_error(503), None),
    ],
)
def test_the_wait_that_is_asked_for(error: Exception, seconds: float | None) -> None:
    assert classify(error, NOW).retry_after == seconds


def test_a_stalled_stream_is_known() -> None:
    assert classify(StreamChunkTimeoutError(5.0), NOW).stalled
    assert not classify(TimeoutError(), NOW).stalled


def test_attributes_of_odd_types_count_for_nothing() -> None:
    error = ValueError("odd")
    for name, value in {
        "status_code": "500", "code": object(), "type": 5, "body": "text", "details": [None], "response": 5,
        "retry_after": True,
    }.items():  # fmt: skip
        setattr(error, name, value)
    failure = classify(error, NOW)
    assert (failure.kind, failure.status, failure.retry_after) == (FailureKind.GENERIC, None, None)


def test_causes_that_lead_in_a_circle() -> None:
    one, two = ValueError("one"), ValueError("two")
    one.__cause__, two.__cause__ = two, one
    assert classify(one, NOW).kind is FailureKind.GENERIC
