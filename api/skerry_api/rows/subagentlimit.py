"""Settings of SubagentLimit."""

from __future__ import annotations

from pydantic import Field

from skerry_api.base import KubeModel

__all__ = ["SubagentLimitSettings"]


class SubagentLimitSettings(KubeModel):
    """The row is there when subagents are enabled."""

    max_concurrent: int = Field(default=3, ge=1, le=16, description="Most subagents that work side by side.")
    max_total: int = Field(
        default=6,
        ge=1,
        le=1000,
        description="Most pieces of work handed to subagents in one run, over all its epochs.",
    )
