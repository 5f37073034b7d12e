"""What events lost is found here: every kind is listed (metadata only) and compared with the cache.

A difference must last for a grace before it counts: watches are behind by milliseconds all the time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import structlog

from skerry_operator.cache.store import WATCHED, Store
from skerry_operator.clock import Clock
from skerry_operator.health import Health
from skerry_operator.kube.kinds import POD, Kind
from skerry_operator.kube.port import KubePort, Listing
from skerry_operator.metrics import Metrics
from skerry_operator.reconcile.reader import POD_LABELS, Reader

__all__ = ["Difference", "Resync", "differences"]

_log = structlog.get_logger(__name__)
Name = tuple[str, str]
_PARALLEL = 8


@dataclass(frozen=True)
class Difference:
    """Names of objects of which the cache is behind: news it lacks, and ghosts that are no more."""

    behind: frozenset[Name]
    ghosts: frozenset[Name]

    def __bool__(self) -> bool:
        return bool(self.behind or self.ghosts)

    def __and__(self, other: Difference) -> Difference:
        return Difference(self.behind & other.behind, self.ghosts & other.ghosts)


def differences(kind: Kind, listing: Listing, store: Store) -> Difference:
    """Compare a list with the cache as it is now; what is newer than the list is right either way."""
    table, seen, behind = store.table(kind), set(), set()
    for raw in listing.items:
        meta = raw["metadata"]
        name = (meta.get("namespace", ""), meta["name"])
        seen.add(name)
        version = int(meta["resourceVersion"])
        known, grave = table.get(*name), table.tombstone(*name)
        if (known is None or known.version < version) and (grave is None or grave.version < version):
            behind.add(name)
    as_of = int(listing.resource_version)
    ghosts = {
        (namespace, name)
        for namespace, name, entry in table.names()
        if (namespace, name) not in seen and entry.version <= as_of
    }
    return Difference(frozenset(behind), frozenset(ghosts))


class Resync:
    def __init__(
        self,
        *,
        port: KubePort,
        store: Store,
        clock: Clock,
        health: Health,
        metrics: Metrics,
        grace: float,
    ) -> None:
        self._port = port
        self._store = store
        self._clock = clock
        self._health = health
        self._metrics = metrics
        self._grace = grace
        self._reader = Reader(port, store, clock)

    async def prime(self) -> None:
        """Fill the cache: whole objects of every kind. Raises KubeError; what was read stays."""
        for kind in WATCHED:
            listing = await self._port.list(kind, labels=_labels(kind), sink=partial(self._store.put, kind))
            self._drop_ghosts(kind, listing)
            self._health.note_listed(kind)
            self._health.note_delivered(kind)
        self._health.note_resynced()

    async def check(self) -> None:
        """Compare every kind and read live what the watch did not tell within the grace. Raises KubeError."""
        try:
            listings = {
                kind: await self._port.list(kind, labels=_labels(kind), metadata_only=True)
                for kind in WATCHED
            }
            first = {kind: differences(kind, listing, self._store) for kind, listing in listings.items()}
            if any(first.values()):
                await self._clock.sleep(self._grace)
            for kind, listing in listings.items():
                lasting = first[kind] & differences(kind, listing, self._store)
                self._health.note_watch(kind, missed=bool(lasting))
                await self._repair(kind, lasting)
        finally:
            self._health.note_resynced()

    def _drop_ghosts(self, kind: Kind, listing: Listing) -> None:
        for namespace, name in differences(kind, listing, self._store).ghosts:
            self._store.drop(kind, namespace, name, int(listing.resource_version), self._clock.now())

    async def _repair(self, kind: Kind, found: Difference) -> None:
        if not found:
            return
        names = sorted(found.behind | found.ghosts)
        self._metrics.watch_missed.labels(kind.name).inc(len(names))
        _log.warning("the watch missed changes", kind=kind.name, count=len(names), first=names[0])
        await self._refresh(kind, names)

    async def _refresh(self, kind: Kind, names: Iterable[Name]) -> None:
        slots = asyncio.Semaphore(_PARALLEL)

        async def one(namespace: str, name: str) -> None:
            async with slots:
                await self._reader.refresh(kind, namespace, name)

        results = await asyncio.gather(*(one(*each) for each in names), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result


def _labels(kind: Kind) -> str:
    return POD_LABELS if kind is POD else ""
