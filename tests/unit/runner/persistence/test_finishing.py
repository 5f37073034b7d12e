"""Writes go on to their end though their caller is cancelled."""

from __future__ import annotations

import asyncio

import pytest

from skerry_runner.persistence import finishing
from skerry_runner.persistence.finishing import Finishing


async def test_a_cancelled_caller_leaves_its_write_to_be_finished() -> None:
    begun, go, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def write() -> None:
        begun.set()
        await go.wait()
        done.set()

    writes = Finishing()
    caller = asyncio.create_task(writes.run(write()))
    await begun.wait()
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    assert not done.is_set()
    settling = asyncio.create_task(writes.settle())
    go.set()
    await settling
    assert done.is_set()


async def test_results_and_faults_reach_the_caller() -> None:
    async def fail() -> None:
        raise ValueError("no")

    async def give() -> int:
        return 7

    writes = Finishing()
    assert await writes.run(give()) == 7
    with pytest.raises(ValueError, match="no"):
        await writes.run(fail())
    await writes.settle()


async def test_what_takes_too_long_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finishing, "SETTLE_SECONDS", 0.01)
    cut = asyncio.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cut.set()

    writes = Finishing()
    caller = asyncio.create_task(writes.run(hang()))
    await asyncio.sleep(0)
    caller.cancel()
    await writes.settle()
    assert cut.is_set()
