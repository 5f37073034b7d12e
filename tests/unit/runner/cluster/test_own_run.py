"""The view of the own run, through lost connections, a forgetful server and the run's end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from skerry_runner.cluster.own_run import OwnRun, read_run
from skerry_runner.cluster.pace import Pace
from skerry_runner.cluster.port import ApiUnauthorized
from skerry_runner.cluster.view import RunView
from skerry_testing.eventually import eventually
from skerry_testing.runport import MemoryRunPort

QUICK = Pace(backoff_first=0.001, backoff_most=0.01)
PATIENCE = 20


@asynccontextmanager
async def following(port: MemoryRunPort) -> AsyncIterator[OwnRun]:
    own = OwnRun(port, await read_run(port, QUICK), QUICK)
    task = asyncio.create_task(own.follow())
    try:
        async with asyncio.timeout(PATIENCE):
            yield own
    finally:
        task.cancel()


def cancel_seen(view: RunView) -> bool | None:
    return view.cancel or None


async def test_a_change_is_seen_by_who_waits() -> None:
    port = MemoryRunPort()
    async with following(port) as own:
        waiting = asyncio.create_task(own.until(cancel_seen))
        await port.patch_status(phase="Running", attempts=2)
        assert not waiting.done()
        await port.patch_spec(cancel=True)
        assert await waiting
    assert port.watches == ["1"], "one watch, from where the first read stood"


async def test_what_happened_while_the_server_was_away_is_seen() -> None:
    port = MemoryRunPort()
    async with following(port) as own:
        await eventually(lambda: port.watches)
        await port.set_down(True)
        await port.patch_spec(cancel=True)
        await asyncio.sleep(0.02)
        assert not own.view.cancel
        await port.set_down(False)
        assert await own.until(cancel_seen)


async def test_a_server_that_forgot_where_we_stood_is_read_anew() -> None:
    port = MemoryRunPort()
    async with following(port) as own:
        await eventually(lambda: port.watches)
        await port.set_down(True)
        await port.patch_status(cancelled=True)
        port.forget()
        await port.set_down(False)
        assert await own.until(cancel_seen)
    assert port.watches[-1] == own.view.resource_version


async def test_a_token_that_stays_worthless_is_told_and_one_that_is_renewed_is_not() -> None:
    port = MemoryRunPort()
    pace = replace(QUICK, unauthorized=0.2)
    own = OwnRun(port, await read_run(port, pace), pace)
    async with asyncio.timeout(PATIENCE):
        following = asyncio.create_task(own.follow())
        await eventually(lambda: port.watches)
        for _ in range(2):
            port.known = False
            await port.set_down(True)  # ends the watch
            await port.set_down(False)
            await asyncio.sleep(0.05)
            port.known = True
            port.watches.clear()
            await eventually(lambda: port.watches)
        assert not following.done()
        port.known = False
        await port.set_down(True)
        await port.set_down(False)
        with pytest.raises(ApiUnauthorized):
            await following


async def test_the_end_of_the_run_is_a_view_too() -> None:
    port = MemoryRunPort()
    async with following(port) as own:
        await port.delete()
        assert await own.until(lambda view: not view.exists or None)
        assert (await read_run(port, QUICK)).exists is False


async def test_the_first_read_outlasts_a_server_that_is_not_up_yet() -> None:
    port = MemoryRunPort()
    await port.set_down(True)
    async with asyncio.timeout(PATIENCE):
        reading = asyncio.create_task(read_run(port, QUICK))
        await asyncio.sleep(0.02)
        assert not reading.done()
        await port.set_down(False)
        assert (await reading).epoch == 1
