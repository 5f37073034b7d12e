"""The collector: what the runner keeps of output, whatever it is sent."""

from __future__ import annotations

import random

from skerry_runner.sandbox.collector import Collector
from skerry_runner.sandbox.types import Chunk, Source


def collect(cap: int, *chunks: Chunk) -> tuple[Chunk, ...]:
    collector = Collector(cap)
    for chunk in chunks:
        collector.feed(chunk)
    return collector.chunks()


def test_below_the_cap_all_is_kept_in_order() -> None:
    kept = collect(1000, Chunk(Source.STDOUT, b"a"), Chunk(Source.STDERR, b"b"), Chunk(Source.STDOUT, b"c"))
    assert kept == (Chunk(Source.STDOUT, b"a"), Chunk(Source.STDERR, b"b"), Chunk(Source.STDOUT, b"c"))


def test_neighbours_are_joined() -> None:
    assert collect(1000, *(Chunk(Source.STDOUT, b"x") for _ in range(500))) == (
        Chunk(Source.STDOUT, b"x" * 500),
    )


def test_head_gap_tail() -> None:
    kept = collect(2000, *(Chunk(Source.STDOUT, b"%04d" % n) for n in range(2500)))
    assert [chunk.source for chunk in kept] == [Source.STDOUT, Source.GAP, Source.STDOUT]
    assert kept[0].data.startswith(b"0000")
    assert kept[2].data.endswith(b"2499")
    assert sum(len(chunk.data) + chunk.dropped for chunk in kept) == 10_000


def test_a_gap_that_was_told_stays() -> None:
    kept = collect(
        2000,
        Chunk(Source.STDOUT, b"a" * 900),
        Chunk(Source.GAP, dropped=77),
        Chunk(Source.STDOUT, b"b" * 900),
    )
    assert [(chunk.source, len(chunk.data), chunk.dropped) for chunk in kept] == [
        (Source.STDOUT, 900, 0),
        (Source.GAP, 0, 77),
        (Source.STDOUT, 900, 0),
    ]


def test_nothing_is_miscounted() -> None:
    numbers = random.Random(3)
    for _ in range(100):
        cap, collector, total = numbers.choice([1024, 3000, 40_000]), Collector(1024), 0
        collector = Collector(cap)
        for _ in range(numbers.randrange(150)):
            size, dropped = numbers.randrange(400), numbers.choice([0, 0, 0, 9])
            source = numbers.choice([Source.STDOUT, Source.STDERR])
            collector.feed(Chunk(Source.GAP, dropped=dropped) if dropped else Chunk(source, b"x" * size))
            total += dropped or size
        kept = collector.chunks()
        assert sum(len(chunk.data) + chunk.dropped for chunk in kept) == total
        assert sum(len(chunk.data) for chunk in kept) <= cap * 9 // 8


def test_everything_is_handed_on() -> None:
    seen: list[Chunk] = []
    collector = Collector(1024, seen.append)
    for _ in range(100):
        collector.feed(Chunk(Source.STDOUT, b"x" * 100))
    assert sum(len(chunk.data) for chunk in seen) == 10_000
