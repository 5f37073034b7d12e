"""Settings of DynamicContext: what the model is told beside the user's words."""

from __future__ import annotations

from pydantic import Field

from skerry_api.base import KubeModel

__all__ = ["DynamicContextSettings"]


class DynamicContextSettings(KubeModel):
    """The date always stands in the reminder."""

    memory: bool = Field(
        default=True,
        description="Whether what is remembered of the user goes into a thread's first reminder.",
    )
    memory_max_tokens: int = Field(
        default=2000, ge=50, le=50_000, description="Longest memory in a reminder, in tokens (estimated)."
    )
    memory_timeout_seconds: int = Field(
        default=5,
        ge=1,
        le=60,
        description="How long to wait for the memory before the reminder goes without it, in seconds.",
    )
