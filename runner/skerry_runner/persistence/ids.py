"""Checkpoint ids are times, and the newest id is the newest checkpoint. Clocks of two nodes may disagree."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from langgraph.checkpoint.base import id as checkpoint_ids

__all__ = ["stay_after"]


def stay_after(checkpoint_id: str) -> None:
    """Let this process make no id that sorts before `checkpoint_id`, which another process may have made.

    Without this, a retry on a node whose clock is behind would write checkpoints that nobody ever reads again.
    """
    try:
        head = UUID(checkpoint_id)
    except ValueError:
        return
    if head.version != 6:
        return
    # The 60-bit time of a UUIDv6 in ticks of 100 ns. The library keeps the last one it gave out, in its module only.
    ticks = (head.int >> 80) << 12 | (head.int >> 64) & 0x0FFF
    module: Any = checkpoint_ids
    module._last_v6_timestamp = max(ticks, module._last_v6_timestamp or 0)  # noqa: SLF001 - there is no other way
