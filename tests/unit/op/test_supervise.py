"""Tasks that should run for ever: how their ends are told."""

from __future__ import annotations

import asyncio

import pytest

from skerry_operator.supervise import Ended, Tasks


async def forever() -> None:
    await asyncio.Event().wait()


async def test_stop_is_the_good_end() -> None:
    tasks, stop = Tasks(), asyncio.Event()
    tasks.start("a", forever())
    waiting = asyncio.create_task(tasks.until(stop))
    await asyncio.sleep(0)
    stop.set()
    await asyncio.wait_for(waiting, 5)
    await tasks.end_all()


async def test_a_task_that_ends_or_fails_is_told() -> None:
    async def quick() -> None: ...

    async def failing() -> None:
        raise RuntimeError("why")

    for work, expected, words in ((quick(), Ended, "one ended"), (failing(), RuntimeError, "why")):
        tasks = Tasks()
        tasks.start("rest", forever())
        tasks.start("one", work)
        with pytest.raises(expected, match=words):
            await asyncio.wait_for(tasks.until(asyncio.Event()), 5)
        await tasks.end_all()


async def test_tasks_end_youngest_first_and_wait_for_what_they_clean_up() -> None:
    tasks, ended = Tasks(), list[str]()

    async def careful(name: str) -> None:
        try:
            await forever()
        finally:
            await asyncio.sleep(0)
            ended.append(name)

    for name in ("first", "second", "third"):
        tasks.start(name, careful(name))
    await asyncio.sleep(0)
    await tasks.end("second")
    assert ended == ["second"]
    await tasks.end_all()
    assert ended == ["second", "third", "first"]
    await tasks.end("never started")
