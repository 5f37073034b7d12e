"""A RunPort in memory: one run, its history for watches, and faults on demand. A second implementation, not a mock."""

from __future__ import annotations

import asyncio
import copy
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

from typing_extensions import override

from skerry_runner.cluster.port import (
    ApiError,
    ApiExpired,
    ApiForbidden,
    ApiNotFound,
    ApiUnauthorized,
    ApiUnavailable,
    EventType,
    RunEvent,
    RunPort,
)

RUN_UID = "run-uid"
POD_UID = "pod-uid"


class MemoryRunPort(RunPort):
    """Behaves as the API server does for the runner's three calls.

    `down` makes every call fail and ends open watches; `admit` says whether reports are let in; `faults` are
    raised by the next applies, one each.
    """

    def __init__(self, **status: Any) -> None:
        self.raw: dict[str, Any] | None = {
            "metadata": {"name": "r", "namespace": "ns", "uid": RUN_UID, "resourceVersion": "1"},
            "spec": {"profileRef": {"name": "p"}, "prompt": "hi"},
            "status": {"epoch": 1, "podUID": POD_UID, "phase": "Running", **status},
        }
        self.applied: list[dict[str, Any]] = []
        self.tries = 0
        self.gets = 0
        self.watches: list[str] = []
        self.faults: deque[ApiError] = deque()
        self.down = False
        self.known = True
        """Whether our token is taken; reads and watches find out, for reports there are `faults`."""
        self.admit = True
        self._version = 1
        self._oldest = 1
        self._outages = 0
        self._events: list[tuple[int, RunEvent]] = []
        self._news = asyncio.Condition()

    @override
    async def get(self) -> dict[str, Any]:
        self._check_up()
        self._check_known()
        self.gets += 1
        if self.raw is None:
            raise ApiNotFound("404: gone")
        return copy.deepcopy(self.raw)

    @override
    async def watch(self, resource_version: str) -> AsyncIterator[RunEvent]:
        self._check_up()
        self._check_known()
        self.watches.append(resource_version)
        seen = int(resource_version)
        if seen < self._oldest:
            raise ApiExpired("410: too old")
        outages = self._outages
        while True:
            async with self._news:
                while not (fresh := self._after(seen)) and self._outages == outages:
                    await self._news.wait()
            if self._outages != outages:
                raise ApiUnavailable("connection reset")
            for version, event in fresh:
                seen = version
                yield event

    @override
    async def apply_status(self, status: dict[str, Any]) -> None:
        self.tries += 1
        self._check_up()
        if self.faults:
            raise self.faults.popleft()
        if not self.admit:
            raise ApiForbidden("403: not the Pod of this run")
        self.applied.append(copy.deepcopy(status))
        await self.patch_status(**status)

    async def patch_status(self, **fields: Any) -> None:
        """What another writer would do."""
        await self._change(lambda raw: raw["status"].update(fields))

    async def patch_spec(self, **fields: Any) -> None:
        await self._change(lambda raw: raw["spec"].update(fields))

    async def delete(self) -> None:
        async with self._news:
            self._record(EventType.DELETED)
            self.raw = None
            self._news.notify_all()

    async def set_down(self, down: bool) -> None:
        async with self._news:
            self.down = down
            self._outages += down
            self._news.notify_all()

    def forget(self) -> None:
        """Watches from before now are refused, as after a compaction."""
        self._events.clear()
        self._version += 1
        self._oldest = self._version
        if self.raw is not None:
            self.raw["metadata"]["resourceVersion"] = str(self._version)

    async def _change(self, change: Any) -> None:
        async with self._news:
            if self.raw is None:
                raise ApiNotFound("404: gone")
            change(self.raw)
            self._record(EventType.CHANGED)
            self._news.notify_all()

    def _record(self, kind: EventType) -> None:
        assert self.raw is not None
        self._version += 1
        self.raw["metadata"]["resourceVersion"] = str(self._version)
        self._events.append((self._version, RunEvent(kind, copy.deepcopy(self.raw))))

    def _after(self, seen: int) -> list[tuple[int, RunEvent]]:
        return [(version, event) for version, event in self._events if version > seen]

    def _check_known(self) -> None:
        if not self.known:
            raise ApiUnauthorized("401: Unauthorized")

    def _check_up(self) -> None:
        if self.down:
            raise ApiUnavailable("connection refused")
