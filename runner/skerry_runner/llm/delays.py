"""How often, and after what wait, a failed call is made again. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from skerry_api.rows.llmerrorhandling import LLMErrorHandlingSettings
from skerry_runner.llm.failure import Failure, FailureKind
from skerry_runner.ports import Jitter

__all__ = ["Wait", "attempts_for", "wait_after"]


@dataclass(frozen=True)
class Wait:
    """`seconds` to wait now; `grown` is what the next random wait grows from."""

    seconds: float
    grown: float


def attempts_for(failure: Failure, settings: LLMErrorHandlingSettings) -> int:
    """Attempts in all that a call may take if it fails like this."""
    if failure.kind is FailureKind.BURST:
        return min(settings.max_attempts, settings.burst_max_attempts)
    if failure.stalled:
        return min(settings.max_attempts, settings.stalled_max_attempts)
    return settings.max_attempts


def wait_after(
    failure: Failure, attempt: int, grown: float, settings: LLMErrorHandlingSettings, jitter: Jitter
) -> Wait | None:
    """The wait before the next attempt, `attempt` (from 1) having failed; None if there is to be none.

    A wait that the provider asks for is taken as it stands. Without one it is decorrelated jitter: between the base
    and three times the last wait, at most the cap.
    """
    if not failure.retriable or attempt >= attempts_for(failure, settings):
        return None
    if failure.retry_after is not None:
        too_long = failure.retry_after > settings.max_retry_after_seconds
        return None if too_long else Wait(failure.retry_after, grown)
    burst = failure.kind is FailureKind.BURST
    base = (settings.burst_base_delay_milliseconds if burst else settings.base_delay_milliseconds) / 1000
    cap = max(base, settings.max_delay_milliseconds / 1000)
    seconds = jitter(base, max(base, min(cap, 3 * max(base, grown))))
    return Wait(seconds, seconds)
