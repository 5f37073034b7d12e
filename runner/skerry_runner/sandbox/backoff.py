"""Patience with a sandbox that does not answer: growing pauses, and an end."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from time import monotonic

from skerry_runner.sandbox.errors import SandboxUnavailable

__all__ = ["Backoff", "Timing"]


@dataclass(frozen=True)
class Timing:
    """How long to try, in seconds, and where time comes from. `unavailable_after` counts from the last contact."""

    unavailable_after: float = 60.0
    first_pause: float = 0.1
    longest_pause: float = 3.0
    connect: float = 5.0
    silence: float = 45.0
    command_slack: float = 20.0
    monotonic: Callable[[], float] = monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = field(default=random.random)


class Backoff:
    """One call's patience."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._last_contact = timing.monotonic()
        self._pause = timing.first_pause

    def contact(self) -> None:
        """Something came from the sandbox: patience starts anew."""
        self._last_contact = self._timing.monotonic()
        self._pause = self._timing.first_pause

    async def pause(self, why: str) -> None:
        """Wait before the next try. Raises SandboxUnavailable when patience is at its end."""
        silent = self._timing.monotonic() - self._last_contact
        if silent >= self._timing.unavailable_after:
            raise SandboxUnavailable(
                f"The sandbox has not answered for {silent:.0f} s ({why}); what was asked of it may have run."
            )
        await self._timing.sleep(self._pause * (0.5 + self._timing.jitter()))
        self._pause = min(self._pause * 2, self._timing.longest_pause)
