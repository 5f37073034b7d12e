"""Settings of LLMErrorHandling: how often a failed model call is repeated, and when an endpoint is given a rest."""

from __future__ import annotations

from pydantic import Field

from skerry_api.base import KubeModel

__all__ = ["CircuitSettings", "LLMErrorHandlingSettings"]


class CircuitSettings(KubeModel):
    """The circuit breaker of an endpoint, shared by all model calls of a runner."""

    failures: int = Field(
        default=5,
        ge=1,
        le=100,
        description="Calls in a row that used up their attempts before the circuit opens.",
    )
    open_seconds: int = Field(
        default=60,
        ge=1,
        le=3600,
        description="How long an open circuit refuses calls before it lets one through to try, in seconds.",
    )


class LLMErrorHandlingSettings(KubeModel):
    """Attempts are calls in all, the first one included; a wait grows at random from the base up to the longest."""

    max_attempts: int = Field(default=3, ge=1, le=10, description="Attempts of a model call in all.")
    base_delay_milliseconds: int = Field(
        default=1000, ge=0, le=60_000, description="Shortest wait between two attempts, in milliseconds."
    )
    max_delay_milliseconds: int = Field(
        default=8000, ge=0, le=300_000, description="Longest wait that is not asked for, in milliseconds."
    )
    max_retry_after_seconds: int = Field(
        default=300,
        ge=0,
        le=3600,
        description="Longest wait that a provider may ask for (Retry-After), in seconds; beyond it the call fails.",
    )
    burst_max_attempts: int = Field(
        default=2, ge=1, le=10, description="Attempts when the provider complains of a burst of calls."
    )
    burst_base_delay_milliseconds: int = Field(
        default=5000, ge=0, le=60_000, description="Shortest wait after such a complaint, in milliseconds."
    )
    stalled_max_attempts: int = Field(
        default=2, ge=1, le=10, description="Attempts when a stream stalls: each costs a whole timeout."
    )
    circuit: CircuitSettings = Field(
        default=CircuitSettings(), description="When an endpoint is given a rest."
    )
