"""One term of leadership: a fresh memory, a fresh queue, every key once, then workers and resyncs until it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import structlog

from skerry_api.labels import Component, Label
from skerry_operator.cache.store import Change, Store
from skerry_operator.cache.wakes import wakes
from skerry_operator.health import Health
from skerry_operator.keys import Key, lane, queue_key, run_key, sandbox_key, volumes_key
from skerry_operator.kube.kinds import POD, RUN, SANDBOX
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.resolve import sandbox_name
from skerry_operator.queue.backoff import Backoff
from skerry_operator.queue.workqueue import WorkQueue
from skerry_operator.reconcile.effects import Effects
from skerry_operator.reconcile.memory import Memory
from skerry_operator.reconcile.reconciler import Reconciler
from skerry_operator.reconcile.work import Worker, current_key

__all__ = ["Term", "TermSettings", "all_keys", "live_keys"]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class TermSettings:
    workers: int
    backoff_base: float = 0.2
    backoff_cap: float = 300.0
    stop_patience: float = 8.0
    """How long passes under way may take to end, in seconds."""


def all_keys(store: Store) -> Iterator[Key]:
    """Everything there is: after a start nobody knows what was left undone."""
    for namespace, name, _ in store.table(RUN).names():
        yield run_key(namespace, name)
    yield from _rest(store)


def live_keys(store: Store) -> Iterator[Key]:
    """What a resync looks at again: runs that are over have nothing left but timers, which they were given."""
    for namespace in store.table(RUN).namespaces():
        for run in store.live_runs(namespace):
            yield run_key(namespace, run.metadata.name)
    yield from _rest(store)


def _rest(store: Store) -> Iterator[Key]:
    for namespace in store.table(RUN).namespaces():
        for run in store.live_runs(namespace):
            yield sandbox_key(
                namespace, sandbox_name(run)
            )  # it may have asked for one that does not exist yet
    for namespace, name, _ in store.table(SANDBOX).names():
        yield sandbox_key(namespace, name)
    for namespace, name, entry in store.table(POD).names():
        # Pods too name keys: those of runs and sandboxes that are no more.
        pod = entry.value
        if isinstance(pod, PodView):
            if pod.labels.get(Label.COMPONENT) == Component.RUNNER:
                yield run_key(namespace, pod.labels.get(Label.RUN, ""))
            else:
                yield sandbox_key(namespace, pod.labels.get(Label.SANDBOX) or name)
    for namespace in store.table(RUN).namespaces():
        yield queue_key(namespace)


class Term:
    def __init__(
        self, effects: Effects, health: Health, settings: TermSettings, random: Callable[[], float]
    ) -> None:
        """`random` gives floats in [0, 1)."""
        self._effects = effects
        self._health = health
        self._settings = settings
        self._random = random
        self._memory = Memory()
        backoff: Backoff[Key] = Backoff(base=settings.backoff_base, cap=settings.backoff_cap, random=random)
        self.queue: WorkQueue[Key] = WorkQueue(effects.clock, backoff, lane, effects.metrics)
        reconciler = Reconciler(effects, self._memory, self.queue.add)
        self.worker = Worker(
            self.queue, reconciler, clock=effects.clock, metrics=effects.metrics, health=health
        )

    def heard(self, change: Change) -> None:
        """A change in the cache: wake whom it concerns, drop what was remembered of the dead.

        A pass is not woken by what it wrote or read itself: it gathers again after each.
        """
        if change.new is None:
            self._memory.forget(change)
        own = current_key.get()
        for key in wakes(change, self._effects.store):
            if key != own:
                self.queue.add(key)

    def look_again(self, spread: float) -> None:
        """After a resync: every live key within the next `spread` seconds; policies are no longer trusted."""
        self._memory.policies.clear()
        for key in dict.fromkeys(live_keys(self._effects.store)):
            self.queue.add_after(key, self._random() * spread)
        for namespace in sorted(self._effects.prepared):
            self.queue.add_after(volumes_key(namespace), self._random() * spread)

    def begin(self) -> None:
        """Put every key into the queue."""
        for key in dict.fromkeys(all_keys(self._effects.store)):
            self.queue.add(key)
        for namespace in sorted(self._effects.prepared):
            self.queue.add(volumes_key(namespace))

    async def run(self) -> None:
        """Work until cancelled; then passes under way are given a little time to end."""
        self.begin()
        self._health.queue_age = self.queue.age
        workers = [asyncio.create_task(self.worker.run()) for _ in range(self._settings.workers)]
        try:
            done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_COMPLETED)
            for worker in done:
                worker.result()  # a worker ends only by a fault in the queue itself
        finally:
            self._health.queue_age = lambda: 0.0
            await self._stop(workers)

    async def _stop(self, workers: list[asyncio.Task[None]]) -> None:
        self.queue.close()
        _, late = await asyncio.wait(workers, timeout=self._settings.stop_patience)
        for worker in late:
            worker.cancel()
        if late:
            _log.warning("passes cut short", count=len(late))
            await asyncio.wait(late)
