"""The newest journal lines in memory, for whoever listens: a sink of the journal that several readers can follow."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from itertools import islice

from typing_extensions import override

from skerry_runner.journal import Sink

__all__ = ["Beat", "EventBuffer", "Line", "Lost", "Piece"]

KEPT_BYTES = 4 * 1024 * 1024
_BATCH = 256
"""Lines that one reader holds at once."""


@dataclass(frozen=True, slots=True)
class Line:
    seq: int
    text: bytes
    """JSON without its newline."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Lines that were dropped before this reader came to them, both ends included."""

    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Beat:
    """Nothing happened for a while."""


Piece = Line | Lost | Beat


class EventBuffer(Sink):
    """Written by the journal's thread, read on the event loop it was made on.

    Bounded: the oldest lines go first, however slow a reader is. The first line written has seq 1.
    """

    name = "live stream"

    def __init__(self, *, kept_bytes: int = KEPT_BYTES) -> None:
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()
        self._lines: deque[bytes] = deque()
        self._kept_bytes = kept_bytes
        self._size = 0
        self._first = 1
        self._closed = False
        self._news = asyncio.Event()

    @override
    def write(self, line: bytes) -> None:
        text = line.rstrip(b"\n")
        with self._lock:
            self._lines.append(text)
            self._size += len(text)
            while self._size > self._kept_bytes and len(self._lines) > 1:
                self._size -= len(self._lines.popleft())
                self._first += 1
        self._tell()

    @override
    def sync(self) -> None:
        """Memory: there is nothing to sync."""

    @override
    def close(self) -> None:
        """No line comes any more: readers end when they have read all."""
        with self._lock:
            self._closed = True
        self._tell()

    async def follow(self, after: int, beat: float) -> AsyncIterator[Piece]:
        """Every line with a seq above `after`, old and new, until the end; a Beat when `beat` seconds bring none."""
        at = after + 1
        while True:
            news = self._news
            first, lines, closed = self._from(at)
            if first > at:
                yield Lost(at, first - 1)
            at = max(at, first)
            for text in lines:
                yield Line(at, text)
                at += 1
            if lines:
                continue
            if closed:
                return
            try:
                await asyncio.wait_for(news.wait(), beat)
            except TimeoutError:
                yield Beat()

    def _from(self, seq: int) -> tuple[int, list[bytes], bool]:
        """The oldest seq there is, lines from `seq` on as far as kept, and whether that is all there will be."""
        with self._lock:
            skipped = max(0, seq - self._first)
            return self._first, list(islice(self._lines, skipped, skipped + _BATCH)), self._closed

    def _tell(self) -> None:
        try:
            self._loop.call_soon_threadsafe(self._wake)
        except RuntimeError:
            return  # the loop is closed, and with it every reader

    def _wake(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()
