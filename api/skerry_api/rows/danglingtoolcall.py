"""Settings of DanglingToolCall."""

from __future__ import annotations

from pydantic import Field

from skerry_api.base import KubeModel

__all__ = ["DanglingToolCallSettings"]


class DanglingToolCallSettings(KubeModel):
    max_error_chars: int = Field(
        default=500,
        ge=0,
        le=4000,
        description="How much of a parser's complaint about a broken call the model is shown, in characters.",
    )
