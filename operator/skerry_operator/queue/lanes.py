"""A FIFO of distinct keys in lanes, served in turn: one busy namespace does not starve the others."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Lanes"]

K = TypeVar("K", bound=Hashable)


class Lanes(Generic[K]):
    """Each key carries the moment it was put, for the age of the oldest."""

    def __init__(self, lane_of: Callable[[K], str]) -> None:
        self._lane_of = lane_of
        self._lanes: OrderedDict[str, OrderedDict[K, float]] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __contains__(self, key: K) -> bool:
        return key in self._lanes.get(self._lane_of(key), ())

    def put(self, key: K, now: float) -> bool:
        """Append the key to its lane; False if it waits there already."""
        lane = self._lanes.setdefault(self._lane_of(key), OrderedDict())
        if key in lane:
            return False
        lane[key] = now
        self._size += 1
        return True

    def pop(self) -> tuple[K, float]:
        """The first key of the lane whose turn it is, and since when it waited; raises KeyError when empty."""
        name, lane = next(iter(self._lanes.items()), (None, None))
        if name is None or lane is None:
            raise KeyError("empty")
        key, since = lane.popitem(last=False)
        self._size -= 1
        if lane:
            self._lanes.move_to_end(name)
        else:
            del self._lanes[name]
        return key, since

    def oldest(self) -> float | None:
        """Since when the longest waiting key waits: each lane is a FIFO, so its first is its oldest."""
        return min((next(iter(lane.values())) for lane in self._lanes.values()), default=None)
