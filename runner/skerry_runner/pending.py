"""Hints that wait for a run's next model call: in memory only, since losing one does no harm."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

__all__ = ["Pending", "RunKey"]

T = TypeVar("T")
KEPT = 4096
"""Runs with hints; the one that was touched longest ago goes first."""


@dataclass(frozen=True)
class RunKey:
    """Whose hints. A row outlives runs, so that every hint says to which it belongs."""

    thread: str
    run: str


class Pending(Generic[T]):
    """Per run, hints in the order in which they came."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._hints: OrderedDict[RunKey, tuple[T, ...]] = OrderedDict()

    def put(self, key: RunKey, hint: T) -> None:
        """Add a hint; the same one waits once."""
        waiting = self._hints.pop(key, ())
        self._hints[key] = waiting if hint in waiting else (*waiting, hint)
        while len(self._hints) > self._kept:
            self._hints.popitem(last=False)

    def waiting(self, key: RunKey) -> tuple[T, ...]:
        """What the next call must hold. It goes on waiting until `delivered`: a call may fail and be tried again."""
        return self._hints.get(key, ())

    def delivered(self, key: RunKey, hints: Sequence[T]) -> None:
        """These were in a call that has returned; what came since stays."""
        left = tuple(hint for hint in self._hints.get(key, ()) if hint not in hints)
        if left:
            self._hints[key] = left
        else:
            self._hints.pop(key, None)

    def clear(self, key: RunKey) -> None:
        """The run is over."""
        self._hints.pop(key, None)

    def clear_others(self, key: RunKey) -> None:
        """Runs of this thread that ended without a word: only one is in flight."""
        for other in [k for k in self._hints if k.thread == key.thread and k != key]:
            del self._hints[other]
