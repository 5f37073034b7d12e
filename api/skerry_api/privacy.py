"""What of a run's texts may stand in its status, which everybody who may read the run can read."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from skerry_api.base import KubeModel

__all__ = ["TEXT_ID_MAX", "Privacy", "TextRef"]

TEXT_ID_MAX = 256
"""Longest id of a journal's line in status, in characters."""


class Privacy(StrEnum):
    FULL = "Full"
    REFERENCES = "References"


class TextRef(KubeModel):
    """A text that does not stand here, since the profile's `privacy` is References."""

    size: int = Field(ge=0, description="Bytes of UTF-8 that would have stood here.")
    event: str = Field(max_length=64, description="Type of the journal's line that has the text.")
    id: str | None = Field(
        default=None,
        max_length=TEXT_ID_MAX,
        description="The line's `id`: there is one such line of that type.",
    )
