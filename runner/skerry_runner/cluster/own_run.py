"""The newest view of the own run, kept by a watch that outlives lost connections and a forgetful server."""

from __future__ import annotations

import asyncio
import logging
import math
import random
from collections.abc import Callable
from typing import TypeVar

from skerry_runner.cluster.pace import Pace
from skerry_runner.cluster.port import ApiError, ApiNotFound, ApiUnauthorized, EventType, RunPort
from skerry_runner.cluster.view import RunView, deleted, view_of

__all__ = ["OwnRun", "read_run"]

log = logging.getLogger(__name__)
T = TypeVar("T")


async def read_run(port: RunPort, pace: Pace, *, unauthorized: float = math.inf) -> RunView:
    """Read the run, however long that takes; a missing one is a view too.

    Raises ApiUnauthorized when nothing but 401 came for `unauthorized` seconds.
    """
    failures, now = 0, asyncio.get_running_loop().time
    since: float | None = None
    while True:
        try:
            return view_of(await port.get())
        except ApiNotFound:
            return deleted()
        except ApiError as error:
            since = (since or now()) if isinstance(error, ApiUnauthorized) else None
            if since is not None and now() - since >= unauthorized:
                raise
            failures += 1
            log.warning("cannot read the run (attempt %d): %s", failures, error)
            await asyncio.sleep(_back_off(failures, pace))


def _back_off(failures: int, pace: Pace) -> float:
    # Jittered: all runners of a cluster lose the same API server at the same moment.
    longest = min(pace.backoff_most, pace.backoff_first * 2 ** min(failures, 16))
    return random.uniform(longest / 2, longest)  # noqa: S311 - not a secret


class OwnRun:
    """The run as last seen. `follow` must be running for `until` to get anywhere."""

    def __init__(self, port: RunPort, first: RunView, pace: Pace) -> None:
        self._port, self._view, self._pace = port, first, pace
        self._news = asyncio.Condition()

    @property
    def view(self) -> RunView:
        return self._view

    async def until(self, look: Callable[[RunView], T | None]) -> T:
        """What `look` finds in the first view in which it finds something. `look` may raise."""
        async with self._news:
            while (found := look(self._view)) is None:
                await self._news.wait()
            return found

    async def follow(self) -> None:
        """Keep the view new, until cancelled or the run is gone. Raises ApiUnauthorized when our token is worth nothing."""
        failures = 0
        version = self._view.resource_version
        while self._view.exists:
            silent = True
            try:
                async for event in self._port.watch(version):
                    silent, failures = False, 0
                    view = view_of(event.object)
                    version = view.resource_version or version
                    if event.type is EventType.DELETED:
                        view = deleted(version)
                    if event.type is not EventType.BOOKMARK:
                        await self._see(view)
                if not silent:
                    continue
            except ApiError as error:
                log.warning("watch lost: %s", error)
            failures += 1
            await asyncio.sleep(_back_off(failures, self._pace))
            # What happened meanwhile is read, not guessed: the server may have forgotten where we stood.
            view = await read_run(self._port, self._pace, unauthorized=self._pace.unauthorized)
            version = view.resource_version
            await self._see(view)

    async def _see(self, view: RunView) -> None:
        async with self._news:
            self._view = view
            self._news.notify_all()
