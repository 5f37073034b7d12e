"""Settings of Title."""

from __future__ import annotations

from pydantic import Field

from skerry_api.base import KubeModel
from skerry_api.common import ModelName

__all__ = ["TitleSettings"]


class TitleSettings(KubeModel):
    model: ModelName | None = Field(
        default=None,
        description="One of the profile's models, asked for the title; if absent, it is the beginning of the user's message.",
    )
    max_words: int = Field(
        default=6, ge=1, le=30, description="Longest title that a model may give, in words."
    )
    max_chars: int = Field(default=60, ge=10, le=200, description="Longest title, in characters.")
    timeout_seconds: int = Field(
        default=10,
        ge=1,
        le=600,
        description="How long a model may take over it, in seconds; then the title is made without it.",
    )
