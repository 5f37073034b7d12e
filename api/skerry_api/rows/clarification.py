"""Settings of Clarification: whether the agent may ask people."""

from __future__ import annotations

from pydantic import Field

from skerry_api.base import KubeModel

__all__ = ["ClarificationSettings"]


class ClarificationSettings(KubeModel):
    enabled: bool = Field(
        default=True,
        description="Whether a question of the agent waits for a person. If not, it is told to decide by itself.",
    )
