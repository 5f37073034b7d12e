"""Settings of DeferredToolFilter and of its tool `tool_search`."""

from __future__ import annotations

from pydantic import Field

from skerry_api.base import KubeModel

__all__ = ["DeferredToolFilterSettings"]


class DeferredToolFilterSettings(KubeModel):
    """The row is there when a server of the profile is deferred."""

    max_results: int = Field(
        default=5,
        ge=1,
        le=50,
        description="Most tools that a search by pattern brings; by name there is no limit.",
    )
    max_names: int = Field(
        default=50,
        ge=0,
        le=1000,
        description="Most names of tools that are told when a search finds nothing.",
    )
