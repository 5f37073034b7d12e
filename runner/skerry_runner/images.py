"""Which images a model is shown: formats by name and by the bytes themselves. Pure."""

from __future__ import annotations

from pathlib import PurePosixPath

__all__ = ["IMAGE_TYPES", "sniffed", "type_by_name"]

IMAGE_TYPES = {
    ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".png": "image/png", ".webp": "image/webp", ".gif": "image/gif",
}  # fmt: skip
"""Media types by suffix."""


def type_by_name(path: str) -> str | None:
    """The media type that the name promises; None if it is no image that models take."""
    return IMAGE_TYPES.get(PurePosixPath(path).suffix.lower())


def sniffed(data: bytes) -> str | None:
    """The media type that the first bytes show."""
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return None
