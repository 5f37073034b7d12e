"""Files that a run brings along: they reach the sandbox's uploads, and never the run document."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints

from skerry_api.base import KubeModel, list_map, validations
from skerry_api.common import ConfigMapKeyRef

__all__ = ["FILES_MAX", "FILES_PATH", "INLINE_MAX", "FileName", "RunFile", "RunFiles"]

INLINE_MAX = 262_144
"""Longest inline texts of a run in all, in bytes of UTF-8."""
FILES_MAX = 64
FILES_PATH = "/etc/skerry/files"
"""Where a runner Pod has the values of ConfigMaps, each named by its file's index in spec.files."""

FileName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=128, pattern=r"^[^/\x00-\x1f\x7f]+$"),
    Field(json_schema_extra=validations("file-name")),
]


class RunFile(KubeModel):
    """One file, inline or from a ConfigMap."""

    name: FileName = Field(description="Its name in /mnt/user-data/uploads; no path.")
    inline: str | None = Field(default=None, max_length=INLINE_MAX, description="The text itself.")
    config_map_key_ref: ConfigMapKeyRef | None = Field(
        default=None, description="ConfigMap and key that hold the file, in data or binaryData."
    )

    model_config = KubeModel.model_config | {"json_schema_extra": validations("one-file-source")}


RunFiles = Annotated[
    tuple[RunFile, ...],
    Field(
        max_length=FILES_MAX,
        json_schema_extra={**list_map("name"), **validations("inline-files-size")},
    ),
]
