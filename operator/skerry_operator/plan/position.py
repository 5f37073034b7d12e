"""Places in the queue as people see them: exact near the front, in steps behind, so that few writes move them."""

from __future__ import annotations

__all__ = ["bucketed"]


def bucketed(position: int) -> int:
    """Exact to 10; then the upper end of its ten, from 100 on of its hundred."""
    step = 1 if position <= 10 else 10 if position <= 100 else 100
    return -(-position // step) * step
