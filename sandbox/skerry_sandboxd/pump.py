"""Move bytes from a command's pipe into its log as the loop finds them there; pausable, never blocking."""

import asyncio
import os
from collections.abc import Callable
from typing import Final

__all__ = ["Pump"]

_CHUNK: Final = 64 * 1024


class Pump:
    """Reads one descriptor until its end. `ended` is set then; the descriptor is closed by us."""

    def __init__(self, fd: int, sink: Callable[[bytes], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._fd = fd
        self._sink: Callable[[bytes], None] | None = sink
        self._reading = False
        self.ended = asyncio.Event()
        os.set_blocking(fd, False)
        self.pause(on=False)

    def pause(self, *, on: bool) -> None:
        """While paused nothing is read: the pipe fills and its writer waits."""
        if self.ended.is_set() or self._reading is not on:
            return
        self._reading = not on
        if on:
            self._loop.remove_reader(self._fd)
        else:
            self._loop.add_reader(self._fd, self._on_readable)

    def drain(self) -> None:
        """Read what stands in the pipe now."""
        while self._read_once():
            pass

    def discard(self) -> None:
        """Keep reading, so that whoever still writes is not killed by a closed pipe, but keep nothing."""
        self._sink = None
        self.pause(on=False)

    def close(self) -> None:
        if not self.ended.is_set():
            self.pause(on=True)
            os.close(self._fd)
            self.ended.set()

    def _on_readable(self) -> None:
        self._read_once()

    def _read_once(self) -> bool:
        if self.ended.is_set():
            return False
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        if not data:
            self.close()
            return False
        if self._sink is not None:
            self._sink(data)
        return True
