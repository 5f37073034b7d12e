"""What a command printed, kept within bounds, and read by any number of followers from any offset.

Offsets count retained bytes of both streams in order of arrival. Two keepers share one reading side:
`CappedLog` keeps the first and the last half of its cap and says how much is missing in between;
`WindowLog` keeps what nobody has read yet plus a tail for readers who come back, and asks its writer to
wait when that gets too much.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from typing_extensions import override

from skerry_api.sandboxd_events import OutputStream

__all__ = ["CappedLog", "Gap", "OutputLog", "Piece", "WindowLog"]

# A piece also costs its bookkeeping: a command that alternates streams byte by byte must not cost us more.
_PIECE_COST: Final = 128
_MERGE_LIMIT: Final = 32 * 1024


@dataclass
class Piece:
    """Consecutive bytes of one stream, starting at `offset`."""

    stream: OutputStream
    offset: int
    data: bytearray

    @property
    def end(self) -> int:
        return self.offset + len(self.data)


@dataclass(frozen=True)
class Gap:
    """`dropped` bytes that were not kept stood before what comes at `offset`."""

    offset: int
    dropped: int

    @property
    def end(self) -> int:
        return self.offset


class OutputLog:
    """The reading side. `changed` is replaced at every change: take it before reading, await it after."""

    def __init__(self) -> None:
        self._pieces: deque[Piece | Gap] = deque()
        self._end = 0
        self.dropped = 0
        self.finished = False
        self.changed: asyncio.Event = asyncio.Event()

    @property
    def end(self) -> int:
        """Offset after the last retained byte."""
        return self._end

    @property
    def retained(self) -> int:
        """Bytes of memory held, bookkeeping included."""
        return sum(len(p.data) for p in self._pieces if isinstance(p, Piece)) + _PIECE_COST * len(
            self._pieces
        )

    def read(self, cursor: int) -> list[Piece | Gap]:
        """Everything from `cursor` on; pieces are copies. A gap is told to readers at or before its offset."""
        found: list[Piece | Gap] = []
        for item in self._pieces:
            if isinstance(item, Gap):
                if item.offset >= cursor:
                    found.append(item)
            elif item.end > cursor:
                skip = max(0, cursor - item.offset)
                found.append(Piece(item.stream, item.offset + skip, item.data[skip:]))
        return found

    def finish(self) -> None:
        """No more output will come."""
        self.finished = True
        self._wake()

    def _wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    def _put(self, stream: OutputStream, data: bytes) -> int:
        """Append, merging small neighbours; returns the cost."""
        last = self._pieces[-1] if self._pieces else None
        if isinstance(last, Piece) and last.stream == stream and len(last.data) < _MERGE_LIMIT:
            last.data += data
            self._end += len(data)
            return len(data)
        self._pieces.append(Piece(stream, self._end, bytearray(data)))
        self._end += len(data)
        return len(data) + _PIECE_COST


class CappedLog(OutputLog):
    """For commands that end. Followers get the head as it comes, the tail when the command has ended."""

    def __init__(self, cap: int) -> None:
        super().__init__()
        self._head_left = cap // 2
        self._tail_cap = cap - cap // 2
        self._tail: deque[tuple[OutputStream, bytes]] = deque()
        self._tail_cost = 0

    def append(self, stream: OutputStream, data: bytes) -> None:
        if self._head_left > 0:
            kept = data[: self._head_left]
            self._head_left -= self._put(stream, kept)
            data = data[len(kept) :]
            self._wake()
        if data:
            self._keep_tail(stream, data)

    @override
    def finish(self) -> None:
        """Move the tail behind the head, with the gap between them."""
        if self.dropped:
            self._pieces.append(Gap(self._end, self.dropped))
        while self._tail:
            self._put(*self._tail.popleft())
        self._tail_cost = 0
        super().finish()

    def forget(self) -> None:
        """Give the memory back; readers get one gap instead. Only after `finish`."""
        size = sum(len(piece.data) for piece in self._pieces if isinstance(piece, Piece))
        self.dropped += size
        self._pieces.clear()
        if self.dropped:
            self._pieces.append(Gap(self._end, self.dropped))

    @property
    @override
    def retained(self) -> int:
        return super().retained + self._tail_cost

    def _keep_tail(self, stream: OutputStream, data: bytes) -> None:
        if self._tail and self._tail[-1][0] == stream and len(self._tail[-1][1]) + len(data) <= _MERGE_LIMIT:
            _, before = self._tail.pop()
            data = before + data
            self._tail_cost -= len(before) + _PIECE_COST
        self._tail.append((stream, data))
        self._tail_cost += len(data) + _PIECE_COST
        while self._tail_cost > self._tail_cap:
            self._drop_oldest(self._tail_cost - self._tail_cap)

    def _drop_oldest(self, excess: int) -> None:
        stream, data = self._tail.popleft()
        self._tail_cost -= len(data) + _PIECE_COST
        kept = data[excess:]
        self.dropped += len(data) - len(kept)
        if kept:
            self._tail.appendleft((stream, kept))
            self._tail_cost += len(kept) + _PIECE_COST


class WindowLog(OutputLog):
    """For processes that talk for long. `pause` is called with True when the unread part is full, then False."""

    def __init__(self, cap: int, pause: Callable[[bool], None]) -> None:
        super().__init__()
        self._cap = cap
        self._pause = pause
        self._paused = False
        self._read_up_to = 0
        self._base = 0

    def append(self, stream: OutputStream, data: bytes) -> None:
        self._put(stream, data)
        self._settle()
        self._wake()

    @override
    def read(self, cursor: int) -> list[Piece | Gap]:
        found = super().read(cursor)
        if cursor < self._base:
            found.insert(0, Gap(self._base, self._base - cursor))
        return found

    def sent(self, up_to: int) -> None:
        """A follower has got everything before `up_to`."""
        self._read_up_to = max(self._read_up_to, min(up_to, self._end))
        self._settle()

    def _settle(self) -> None:
        # Keep half a cap of what was read, for a reader whose connection broke.
        while self._pieces and self._pieces[0].end <= self._read_up_to - self._cap // 2:
            self._base = self._pieces.popleft().end
        # Many tiny pieces weigh as much as few large ones.
        unread = max(self._end - self._read_up_to, _PIECE_COST * len(self._pieces) - self._cap // 2)
        if not self._paused and unread >= self._cap:
            self._paused = True
            self._pause(True)
        elif self._paused and unread <= self._cap // 2:
            self._paused = False
            self._pause(False)
