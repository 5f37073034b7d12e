"""Settings of ViewImage."""

from __future__ import annotations

from pydantic import Field

from skerry_api.base import KubeModel

__all__ = ["ViewImageSettings"]


class ViewImageSettings(KubeModel):
    """For models that see images (`model.vision`): what `view_image` may show."""

    enabled: bool = Field(default=True, description="Whether a model that sees images gets `view_image`.")
    max_image_bytes: int = Field(
        default=20 * 1024 * 1024, ge=1, le=64 * 1024 * 1024 - 1, description="Largest image, in bytes."
    )
    max_request_bytes: int = Field(
        default=40 * 1024 * 1024,
        ge=1,
        le=256 * 1024 * 1024,
        description="Most bytes of images in one request to the model; those looked at last come first.",
    )
