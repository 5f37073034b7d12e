"""Words by which providers tell what went wrong, where status and class do not. Casefolded; English and Chinese."""

from __future__ import annotations

from skerry_api.phases import ModelErrorReason

__all__ = [
    "AUTH_CODES", "AUTH_TEXTS", "BURST_CODES", "BUSY_TEXTS", "EMPTY_TEXTS", "FILTER_CODES", "OVERFLOW_CODES", "QUOTA_CODES",
    "QUOTA_TEXTS", "TRANSIENT_CLASSES", "TRANSIENT_CODES", "any_in",
]  # fmt: skip

QUOTA_CODES = frozenset(
    {"insufficient_quota", "quota_exceeded", "billing_hard_limit_reached", "billing_not_active", "billing_error",
     "insufficient_balance", "payment_required", "arrearage"}
)  # fmt: skip
QUOTA_TEXTS = (
    "quota", "billing", "credit balance", "insufficient credit", "out of credits", "no credits", "insufficient balance",
    "insufficient funds", "payment required", "spending limit", "余额不足", "额度不足", "额度已用", "配额", "欠费",
)  # fmt: skip
AUTH_CODES = frozenset(
    {"invalid_api_key", "authentication_error", "permission_error", "permission_denied", "unauthenticated",
     "unauthorized", "invalid_authentication", "access_denied", "account_deactivated"}
)  # fmt: skip
AUTH_TEXTS = (
    "unauthorized", "unauthenticated", "invalid api key", "incorrect api key", "api key not valid", "invalid x-api-key",
    "missing api key", "no api key", "invalid token", "authentication fail", "permission denied", "access denied",
    "forbidden", "not authorized", "鉴权失败", "认证失败", "未授权", "没有权限", "无权访问", "密钥无效",
)  # fmt: skip
BURST_CODES = frozenset({"limit_burst_rate"})
BUSY_TEXTS = (
    "server is busy", "server busy", "system is busy", "overloaded", "temporarily unavailable", "service unavailable",
    "try again later", "too many requests", "high demand", "at capacity", "over capacity", "rate limit",
    "服务繁忙", "系统繁忙", "服务器繁忙", "负载过高", "负载较高", "稍后重试", "稍后再试", "请求过于频繁", "限流",
)  # fmt: skip
EMPTY_TEXTS = ("no generations found in stream", "null value for `choices`")
"""What LangChain says when a provider answered with nothing."""
OVERFLOW_CODES = frozenset({"context_length_exceeded", "string_above_max_length"})
FILTER_CODES = frozenset({"content_filter", "content_policy_violation", "data_inspection_failed"})

TRANSIENT_CODES: dict[str, ModelErrorReason] = {
    "server_error": ModelErrorReason.SERVER_ERROR,
    "internal_error": ModelErrorReason.SERVER_ERROR,
    "internal_server_error": ModelErrorReason.SERVER_ERROR,
    "api_error": ModelErrorReason.SERVER_ERROR,
    "overloaded_error": ModelErrorReason.OVERLOADED,
    "overloaded": ModelErrorReason.OVERLOADED,
    "unavailable": ModelErrorReason.OVERLOADED,
    "rate_limit_error": ModelErrorReason.RATE_LIMITED,
    "rate_limit_exceeded": ModelErrorReason.RATE_LIMITED,
    "resource_exhausted": ModelErrorReason.RATE_LIMITED,
    "timeout": ModelErrorReason.TIMED_OUT,
    "timeout_error": ModelErrorReason.TIMED_OUT,
    "deadline_exceeded": ModelErrorReason.TIMED_OUT,
}
"""Codes of errors that come in the midst of a stream, when the status has long been 200."""
TRANSIENT_CLASSES: tuple[tuple[str, ModelErrorReason], ...] = (
    ("StreamChunkTimeoutError", ModelErrorReason.TIMED_OUT),
    ("APITimeoutError", ModelErrorReason.TIMED_OUT),
    ("ModelTimeoutError", ModelErrorReason.TIMED_OUT),
    ("TimeoutException", ModelErrorReason.TIMED_OUT),
    ("DeadlineExceeded", ModelErrorReason.TIMED_OUT),
    ("TimeoutError", ModelErrorReason.TIMED_OUT),
    ("APIConnectionError", ModelErrorReason.CONNECTION_FAILED),
    ("ModelConnectionError", ModelErrorReason.CONNECTION_FAILED),
    (
        "TransportError",
        ModelErrorReason.CONNECTION_FAILED,
    ),  # httpx: ReadError, RemoteProtocolError, ConnectError …
    ("ConnectionError", ModelErrorReason.CONNECTION_FAILED),
    ("RateLimitError", ModelErrorReason.RATE_LIMITED),
    ("ModelRateLimitError", ModelErrorReason.RATE_LIMITED),
    ("OverloadedError", ModelErrorReason.OVERLOADED),
    ("InternalServerError", ModelErrorReason.SERVER_ERROR),
    ("ModelAPIError", ModelErrorReason.SERVER_ERROR),
    ("ServerError", ModelErrorReason.SERVER_ERROR),
)
"""Names of classes in the order in which they are looked for: a timeout is a connection error to some clients."""


def any_in(words: tuple[str, ...], text: str) -> bool:
    return any(word in text for word in words)
