"""The buffer of the live stream: order, bounds, several readers, the end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable

from skerry_runner.stream.buffer import Beat, EventBuffer, Line, Lost, Piece

PATIENCE = 20


async def read(buffer: EventBuffer, after: int = 0, beat: float = PATIENCE) -> list[Piece]:
    async with asyncio.timeout(PATIENCE):
        return [piece async for piece in buffer.follow(after, beat)]


def write(buffer: EventBuffer, texts: Iterable[str]) -> None:
    for text in texts:
        buffer.write(text.encode() + b"\n")


async def test_a_reader_gets_old_and_new_lines_in_order_and_then_the_end() -> None:
    buffer = EventBuffer()
    write(buffer, ["a", "b"])
    reading = asyncio.create_task(read(buffer))
    await asyncio.sleep(0)

    def finish() -> None:
        write(buffer, ["c"])
        buffer.close()

    writer = threading.Thread(target=finish)
    writer.start()
    assert await reading == [Line(1, b"a"), Line(2, b"b"), Line(3, b"c")]
    writer.join()


async def test_a_reader_goes_on_after_the_line_it_had() -> None:
    buffer = EventBuffer()
    write(buffer, "abcd")
    buffer.close()
    assert await read(buffer, after=2) == [Line(3, b"c"), Line(4, b"d")]
    assert await read(buffer, after=4) == []
    assert await read(buffer, after=99) == [], "of a former life: nothing to replay"


async def test_the_oldest_lines_go_and_the_reader_is_told() -> None:
    buffer = EventBuffer(kept_bytes=10)
    write(buffer, ["aaaa", "bbbb", "cccc", "dddd"])
    buffer.close()
    assert await read(buffer) == [Lost(1, 2), Line(3, b"cccc"), Line(4, b"dddd")]
    assert await read(buffer, after=1) == [Lost(2, 2), Line(3, b"cccc"), Line(4, b"dddd")]
    assert await read(buffer, after=2) == [Line(3, b"cccc"), Line(4, b"dddd")]


async def test_one_line_larger_than_the_bound_is_kept() -> None:
    buffer = EventBuffer(kept_bytes=2)
    write(buffer, ["aaaa", "bbbb"])
    buffer.close()
    assert await read(buffer) == [Lost(1, 1), Line(2, b"bbbb")]


async def test_a_slow_reader_loses_the_middle_and_holds_nobody_up() -> None:
    buffer = EventBuffer(kept_bytes=600)
    write(buffer, ["a"])
    following = buffer.follow(0, PATIENCE)
    assert await anext(following) == Line(1, b"a")
    write(buffer, (f"{number:06d}" for number in range(2, 10_002)))
    buffer.close()
    rest = [piece async for piece in following]
    assert rest[0] == Lost(2, 9901)
    assert [piece.seq for piece in rest[1:] if isinstance(piece, Line)] == list(range(9902, 10_002))


async def test_silence_is_a_beat() -> None:
    buffer = EventBuffer()
    following = buffer.follow(0, 0.01)
    assert await anext(following) == Beat()
    write(buffer, ["a"])
    while (piece := await anext(following)) == Beat():
        pass
    assert piece == Line(1, b"a")


async def test_many_readers_get_the_same() -> None:
    buffer = EventBuffer()
    readers = [asyncio.create_task(read(buffer)) for _ in range(20)]
    await asyncio.sleep(0)
    write(buffer, (str(number) for number in range(1000)))
    buffer.close()
    results = await asyncio.gather(*readers)
    assert all(result == results[0] for result in results)
    assert [piece.seq for piece in results[0] if isinstance(piece, Line)] == list(range(1, 1001))
