"""The work queue: distinct keys, one worker at a time per key, delayed adds, back-off after failures.

A key that is added while it is being worked on is given out again afterwards, never at the same time.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable, Hashable
from typing import Generic, Protocol, TypeVar

from skerry_operator.clock import Clock, TimerHandle
from skerry_operator.queue.backoff import Backoff
from skerry_operator.queue.lanes import Lanes

__all__ = ["QueueClosed", "QueueObserver", "WorkQueue"]

K = TypeVar("K", bound=Hashable)
K_contra = TypeVar("K_contra", contravariant=True)


class QueueClosed(Exception):
    """No more keys: the queue was closed."""


class QueueObserver(Protocol[K_contra]):
    """What metrics want to hear."""

    def added(self, key: K_contra) -> None: ...
    def taken(self, key: K_contra, waited: float) -> None: ...
    def retried(self, key: K_contra) -> None: ...


class WorkQueue(Generic[K]):
    """Single event loop, any number of workers: `key = await get()` … `done(key)`."""

    def __init__(
        self,
        clock: Clock,
        backoff: Backoff[K],
        lane_of: Callable[[K], str],
        observer: QueueObserver[K] | None = None,
    ) -> None:
        self._clock = clock
        self._backoff = backoff
        self._observer = observer
        self._ready: Lanes[K] = Lanes(lane_of)
        self._processing: set[K] = set()
        self._dirty: set[K] = set()
        self._due: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._sequence = 0
        self._timer: TimerHandle | None = None
        self._timer_at = float("inf")
        self._waiters: list[asyncio.Future[None]] = []
        self._closed = False

    @property
    def depth(self) -> int:
        """Keys that wait for a worker now."""
        return len(self._ready)

    @property
    def delayed(self) -> int:
        """Keys that wait for their time."""
        return len(self._due)

    @property
    def processing(self) -> frozenset[K]:
        return frozenset(self._processing)

    def age(self) -> float:
        """Seconds that the oldest ready key has waited; 0 if none does."""
        oldest = self._ready.oldest()
        return 0.0 if oldest is None else max(0.0, self._clock.monotonic() - oldest)

    def add(self, key: K) -> None:
        """The key needs work now."""
        if self._closed:
            return
        if key in self._processing:
            self._dirty.add(key)
        elif self._ready.put(key, self._clock.monotonic()):
            if self._observer:
                self._observer.added(key)
            self._wake()

    def add_after(self, key: K, delay: float) -> None:
        """The key needs work in `delay` seconds; of several such wishes the earliest stands."""
        if self._closed:
            return
        if delay <= 0:
            self.add(key)
            return
        due = self._clock.monotonic() + delay
        if due < self._due.get(key, float("inf")):
            self._due[key] = due
            self._sequence += 1
            heapq.heappush(self._heap, (due, self._sequence, key))
            self._arm()

    def retry(self, key: K, *, at_least: float = 0.0) -> float:
        """The key failed: add it after its back-off; returns the delay in seconds."""
        delay = max(at_least, self._backoff.next(key))
        if self._observer:
            self._observer.retried(key)
        self.add_after(key, delay)
        return delay

    def forget(self, key: K) -> None:
        """The key succeeded: its back-off starts from the beginning."""
        self._backoff.forget(key)

    def failures(self, key: K) -> int:
        return self._backoff.failures(key)

    async def get(self) -> K:
        """The next key, marked as being processed; raises QueueClosed."""
        while True:
            if self._closed:
                raise QueueClosed
            if self._ready:
                key, since = self._ready.pop()
                self._processing.add(key)
                if self._observer:
                    self._observer.taken(key, max(0.0, self._clock.monotonic() - since))
                return key
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter.done() and not waiter.cancelled():
                    self._wake()  # it was woken for a key that another must now take
                raise
            finally:
                if waiter in self._waiters:
                    self._waiters.remove(waiter)

    def done(self, key: K) -> None:
        """The worker has finished with the key; it is ready again if it was added meanwhile."""
        self._processing.discard(key)
        if key in self._dirty:
            self._dirty.discard(key)
            self.add(key)

    def close(self) -> None:
        """Let go of all keys; workers that wait get QueueClosed, those at work finish theirs."""
        self._closed = True
        if self._timer is not None:
            self._timer.cancel()
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _wake(self) -> None:
        while self._waiters:
            waiter = self._waiters.pop(0)
            if not waiter.done():
                waiter.set_result(None)
                return

    def _arm(self) -> None:
        """One timer, for the earliest key."""
        if self._heap and self._heap[0][0] < self._timer_at:
            if self._timer is not None:
                self._timer.cancel()
            self._timer_at = self._heap[0][0]
            delay = max(0.0, self._timer_at - self._clock.monotonic())
            self._timer = self._clock.call_later(delay, self._fire)

    def _fire(self) -> None:
        self._timer, self._timer_at = None, float("inf")
        now = self._clock.monotonic()
        while self._heap and self._heap[0][0] <= now:
            due, _, key = heapq.heappop(self._heap)
            if self._due.get(key) == due:  # else an earlier wish was met already
                del self._due[key]
                self.add(key)
        self._arm()
