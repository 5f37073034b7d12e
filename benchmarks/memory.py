"""What a turn pays for memory: 1,000 enqueues of ten threads, and how many writes and updates they come to."""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from langchain_core.messages import BaseMessage

from skerry_api.rows.memory import MemorySettings
from skerry_runner.memory.book import MemoryBook, Pending
from skerry_runner.memory.queue import MemoryQueue
from skerry_runner.memory.snapshot import Exchange, Snapshot
from skerry_runner.memory.stores import open_sqlite_store
from skerry_runner.memory.update import due_groups, flush_group

__all__ = ["memory_queue"]

THREADS = 10
TEXT = "A text as long as what people say to agents usually is. " * 20


def _snapshot(number: int, now: datetime) -> Snapshot:
    exchange = Exchange(id=f"m{number}", user=TEXT, answer=TEXT)
    return Snapshot(
        thread=f"t{number % THREADS}", user="u", agent="lead", run=f"r{number}", time=now, fresh=(exchange,)
    )


async def memory_queue(count: int = 1000) -> dict[str, float]:
    """Times of enqueuing in microseconds, of writing in milliseconds; numbers of writes and of questions to a model."""
    now = datetime.now(UTC)
    snapshots = [_snapshot(number, now) for number in range(count)]
    writes = questions = 0

    async def ask(_messages: Sequence[BaseMessage]) -> str:
        nonlocal questions
        questions += 1
        return json.dumps({"add": [], "remove": []})

    with TemporaryDirectory() as directory:
        async with open_sqlite_store(Path(directory)) as store:
            book = MemoryBook(store, "bench")

            async def write(snapshot: Snapshot) -> None:
                nonlocal writes
                writes += 1
                await book.keep(Pending(snapshot=snapshot, profile="p", due=now))

            queue = MemoryQueue(write)
            times: list[float] = []
            for snapshot in snapshots:
                begun = time.perf_counter()
                queue.enqueue(snapshot)
                times.append((time.perf_counter() - begun) * 1e6)
            begun = time.perf_counter()
            if (error := await queue.settle(60)) is not None:
                raise error
            written = (time.perf_counter() - begun) * 1e3
            for group in due_groups(await book.waiting(), now):
                await flush_group(book, group, ask, MemorySettings(), now)
    times.sort()
    return {
        "snapshots of ten threads": count,
        "enqueue, median, microseconds": statistics.median(times),
        "enqueue, 99th percentile, microseconds": times[int(len(times) * 0.99)],
        "all enqueued, milliseconds": sum(times) / 1e3,
        "writes to SQLite": writes,
        "all written, milliseconds": written,
        "questions to the model": questions,
    }


if __name__ == "__main__":
    for name, value in asyncio.run(memory_queue()).items():
        print(f"{name}: {value:.1f}")
