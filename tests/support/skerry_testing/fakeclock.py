"""A clock that tests turn by hand: timers fire in order while it is advanced, never by themselves."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

__all__ = ["FakeClock", "settle"]

START = datetime(2026, 1, 1, tzinfo=UTC)
_TURNS = 60


async def settle() -> None:
    """Let every task run until it waits for something that only the test can give."""
    for _ in range(_TURNS):
        await asyncio.sleep(0)


@dataclass(order=True)
class _Timer:
    due: float
    number: int
    callback: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        self.cancelled = True


class FakeClock:
    """A `skerry_operator.clock.Clock`; wall and monotonic time go together unless a test moves the wall clock."""

    def __init__(self, start: datetime = START) -> None:
        self._wall = start
        self._monotonic = 1000.0
        self._timers: list[_Timer] = []
        self._number = 0

    def now(self) -> datetime:
        return self._wall

    def monotonic(self) -> float:
        return self._monotonic

    def call_later(self, delay: float, callback: Callable[[], None]) -> _Timer:
        self._number += 1
        timer = _Timer(self._monotonic + max(0.0, delay), self._number, callback)
        heapq.heappush(self._timers, timer)
        return timer

    async def sleep(self, delay: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        timer = self.call_later(delay, lambda: None if woken.done() else woken.set_result(None))
        try:
            await woken
        finally:
            timer.cancel()

    async def advance(self, seconds: float) -> None:
        """Go on by so much, firing what falls due on the way, each time letting the tasks run."""
        end = self._monotonic + seconds
        await settle()
        while self._timers and self._timers[0].due <= end:
            timer = heapq.heappop(self._timers)
            if timer.cancelled:
                continue
            self._go_to(max(timer.due, self._monotonic))
            timer.callback()
            await settle()
        self._go_to(end)
        await settle()

    def pause(self, seconds: float) -> None:
        """Time passes while this process stands still: nothing fires."""
        self._go_to(self._monotonic + seconds)

    def next_timer(self) -> float | None:
        """Seconds until the next timer; None without one."""
        due = [timer.due for timer in self._timers if not timer.cancelled]
        return min(due) - self._monotonic if due else None

    def _go_to(self, moment: float) -> None:
        self._wall += timedelta(seconds=moment - self._monotonic)
        self._monotonic = moment
