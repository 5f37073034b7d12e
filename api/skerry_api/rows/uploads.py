"""Settings of Uploads."""

from __future__ import annotations

from pydantic import Field

from skerry_api.base import KubeModel

__all__ = ["UploadsSettings"]


class UploadsSettings(KubeModel):
    """How much of the files a person gave is described in the message; the files themselves are never pasted in."""

    shown: int = Field(
        default=10, ge=0, le=100, description="Files described one by one; the rest are counted by type."
    )
    outline_lines: int = Field(
        default=20,
        ge=0,
        le=100,
        description="Most lines of a file's outline (headings, header or first lines).",
    )
    outline_line_chars: int = Field(
        default=120, ge=8, le=1000, description="Longest line of an outline, in characters."
    )
