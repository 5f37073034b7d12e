"""A failed model call as the rest of the runner sees it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from skerry_api.phases import ENDPOINT_FAULTS, ModelErrorReason

__all__ = ["Failure", "FailureKind"]


class FailureKind(StrEnum):
    QUOTA = "quota"
    """Money or quota is used up: no repetition helps."""
    AUTH = "auth"
    """The key is missing, wrong or not allowed to."""
    BURST = "burst"
    """Calls came too fast, though not too many: a longer wait helps, and the endpoint is well."""
    TRANSIENT = "transient"
    """Timeout, connection, rate limit, fault of the server."""
    BUSY = "busy"
    """The server says in words that it has too much to do."""
    GENERIC = "generic"
    """Anything else: the request itself is at fault, or nobody knows."""


@dataclass(frozen=True)
class Failure:
    """`error` is the exception's class, `retry_after` the wait that the provider asks for, in seconds."""

    kind: FailureKind
    reason: ModelErrorReason
    error: str
    message: str
    status: int | None = None
    retry_after: float | None = None
    stalled: bool = False
    """A stream that stopped in its midst: each attempt costs a whole timeout."""

    @property
    def retriable(self) -> bool:
        return self.kind in {FailureKind.BURST, FailureKind.TRANSIENT, FailureKind.BUSY}

    @property
    def counts(self) -> bool:
        """Whether it speaks of the endpoint's health, and so moves the circuit breaker."""
        return self.reason in ENDPOINT_FAULTS
