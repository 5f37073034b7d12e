"""Settings of TokenUsage."""

from __future__ import annotations

from pydantic import Field

from skerry_api.base import KubeModel

__all__ = ["TokenUsageSettings"]


class TokenUsageSettings(KubeModel):
    enabled: bool = Field(
        default=True,
        description="Whether messages say what their tokens were used for. Totals and limits don't depend on it.",
    )
