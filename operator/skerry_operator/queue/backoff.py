"""Capped exponential back-off with full-range jitter, per key; randomness is an argument."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Backoff"]

K = TypeVar("K", bound=Hashable)


class Backoff(Generic[K]):
    """Delays grow `base`·2ⁿ up to `cap` seconds; each is drawn from its upper half, so that keys drift apart."""

    def __init__(self, *, base: float, cap: float, random: Callable[[], float]) -> None:
        """`random` gives floats in [0, 1)."""
        self._base = base
        self._cap = cap
        self._random = random
        self._failures: dict[K, int] = {}

    def next(self, key: K) -> float:
        """Count a failure and say how many seconds to wait."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        # The exponent is bounded before the power: 2.0**1024 overflows.
        ceiling = min(self._cap, self._base * 2.0 ** min(failures, 32))
        return ceiling * (0.5 + self._random() / 2)

    def failures(self, key: K) -> int:
        return self._failures.get(key, 0)

    def forget(self, key: K) -> None:
        self._failures.pop(key, None)
