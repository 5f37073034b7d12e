"""Texts within bounds that are counted in bytes."""

from __future__ import annotations

__all__ = ["cut_bytes"]


def cut_bytes(text: str, limit: int) -> str:
    """The longest beginning of `text` that is at most `limit` bytes of UTF-8, whole characters only."""
    data = text.encode(errors="replace")
    # Cutting inside a character leaves an incomplete sequence at the end, which "ignore" drops.
    return text if len(data) <= limit else data[: max(limit, 0)].decode(errors="ignore")
