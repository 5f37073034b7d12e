"""Collect a command's output on our side, within our own cap, whatever the other side sends."""

from collections import deque
from typing import Final

from skerry_runner.sandbox.types import Chunk, OutputHandler, Source

__all__ = ["Collector"]

_CHUNK_COST: Final = 128
_MERGE_LIMIT: Final = 32 * 1024


class Collector:
    """Keeps the first half of `cap` bytes and a little more than the last half; what is cut becomes one gap.

    Every chunk is handed to `on_output` as it comes, also what is not kept. The little more is for
    bookkeeping, so that output the sandbox has capped already is not cut again.
    """

    def __init__(self, cap: int, on_output: OutputHandler | None = None) -> None:
        self._head: list[Chunk] = []
        self._tail: deque[Chunk] = deque()
        self._head_left = cap // 2
        self._tail_cap = cap - cap // 2 + cap // 8
        self._tail_cost = 0
        self._dropped = 0
        self._on_output = on_output

    def feed(self, chunk: Chunk) -> None:
        if self._on_output is not None:
            self._on_output(chunk)
        if chunk.dropped:
            self._head_left = 0  # what follows a gap stays behind it
        if self._head_left > 0 and chunk.data:
            head = Chunk(chunk.source, chunk.data[: self._head_left])
            self._head_left -= len(head.data)
            _push(self._head, head)
            chunk = Chunk(chunk.source, chunk.data[len(head.data) :])
        if chunk.data or chunk.dropped:
            self._keep(chunk)

    def chunks(self) -> tuple[Chunk, ...]:
        """What is kept, in order."""
        kept = list(self._head)
        if self._dropped:
            _push(kept, Chunk(Source.GAP, dropped=self._dropped))
        for chunk in self._tail:
            _push(kept, chunk)
        return tuple(kept)

    def _keep(self, chunk: Chunk) -> None:
        last = self._tail[-1] if self._tail else None
        if last is not None and last.source is chunk.source and len(last.data) < _MERGE_LIMIT:
            self._tail[-1] = Chunk(last.source, last.data + chunk.data, last.dropped + chunk.dropped)
            self._tail_cost += len(chunk.data)
        else:
            self._tail.append(chunk)
            self._tail_cost += len(chunk.data) + _CHUNK_COST
        while self._tail_cost > self._tail_cap:
            self._cut(self._tail_cost - self._tail_cap)

    def _cut(self, excess: int) -> None:
        first = self._tail.popleft()
        kept = first.data[excess:]
        self._tail_cost -= len(first.data) + _CHUNK_COST
        self._dropped += len(first.data) - len(kept) + first.dropped
        if kept:
            self._tail.appendleft(Chunk(first.source, kept))
            self._tail_cost += len(kept) + _CHUNK_COST


def _push(chunks: list[Chunk], chunk: Chunk) -> None:
    last = chunks[-1] if chunks else None
    if last is not None and last.source is chunk.source and len(last.data) < _MERGE_LIMIT:
        chunks[-1] = Chunk(last.source, last.data + chunk.data, last.dropped + chunk.dropped)
    else:
        chunks.append(chunk)
