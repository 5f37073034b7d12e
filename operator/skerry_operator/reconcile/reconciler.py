"""reconcile(key): binds the pure planners to gathering and applying."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import structlog

from skerry_operator.cache.parse import Unreadable
from skerry_operator.errors import Conflict, NotFound
from skerry_operator.keys import Key, Topic, run_key
from skerry_operator.kube.kinds import RUN, SANDBOX, Kind
from skerry_operator.plan.actions import Refusal
from skerry_operator.plan.admission import plan_admission
from skerry_operator.plan.run import plan_run
from skerry_operator.plan.sandbox import plan_sandbox
from skerry_operator.plan.types import ObservedSandbox, Plan
from skerry_operator.plan.volumes import plan_volumes
from skerry_operator.reconcile.apply import Applier
from skerry_operator.reconcile.broken import broken_box_status, broken_status
from skerry_operator.reconcile.effects import Effects
from skerry_operator.reconcile.gather import Gatherer
from skerry_operator.reconcile.memory import Memory
from skerry_operator.reconcile.reader import Reader
from skerry_operator.reconcile.rounds import Rounds, View
from skerry_operator.reconcile.statuswriter import StatusWriter

__all__ = ["Reconciler"]

_log = structlog.get_logger(__name__)


class Reconciler:
    """One term of leadership. `wake` puts a key into the work queue."""

    def __init__(self, effects: Effects, memory: Memory, wake: Callable[[Key], None]) -> None:
        self._effects = effects
        self._memory = memory
        self._wake = wake
        store, clock = effects.store, effects.clock
        reader = Reader(effects.port, store, clock)
        self._gather = Gatherer(store, reader, memory, clock, effects.prepared)
        applier = Applier(
            port=effects.port, store=store, reader=reader, memory=memory, probe=effects.probe, clock=clock
        )
        self._rounds = Rounds(applier, StatusWriter(effects, memory, reader), self._count_conflict)

    async def reconcile(self, key: Key) -> datetime | None:
        """One pass; says when the key wants to be looked at again, if nothing happens before.

        Raises KubeError and Restless: the key must be tried again.
        """
        match key.topic:
            case Topic.RUN:
                return await self._run(key)
            case Topic.SANDBOX:
                return await self._sandbox(key)
            case Topic.QUEUE:
                await self._admit(key)
                return None
            case Topic.VOLUMES:
                return await self._rounds.settle(key, self._look_at_volumes)

    async def _run(self, key: Key) -> datetime | None:
        wake = await self._rounds.settle(key, self._look_at_run)
        return None if await self._stalled(RUN, key) else wake

    async def _sandbox(self, key: Key) -> datetime | None:
        wake = await self._rounds.settle(key, self._look_at_sandbox)
        return None if await self._stalled(SANDBOX, key) else wake

    async def _look_at_run(self, key: Key, live: bool, refusal: Refusal | None) -> View:
        observed = await self._gather.run(key, live=live, refusal=refusal)
        # It is there, though `observed` lacks it: its Pods are nobody's to sweep.
        if self._effects.store.unreadable(RUN, key.namespace, key.name):
            return View(Plan(), None)
        plan = plan_run(observed, self._effects.clock.now(), self._effects.settings())
        return View(plan, observed.run)

    async def _look_at_sandbox(self, key: Key, live: bool, refusal: Refusal | None) -> View:
        observed = await self._gather.sandbox(key, live=live, refusal=refusal)
        if self._effects.store.unreadable(SANDBOX, key.namespace, key.name):
            return View(Plan(), None)
        self._note_refusal(observed, refusal)
        plan = plan_sandbox(observed, self._effects.clock.now(), self._effects.settings())
        return View(plan, observed.sandbox)

    async def _look_at_volumes(self, key: Key, _live: bool, refusal: Refusal | None) -> View:
        now = self._effects.clock.now()
        plan = plan_volumes(await self._gather.volumes(key), now)
        if refusal is not None:
            return View(Plan(wake_at=now + self._effects.settings().retry_refused), None)
        return View(plan, None)

    def _note_refusal(self, observed: ObservedSandbox, refusal: Refusal | None) -> None:
        """Where no Sandbox may be made, the runs that ask for it have to say so."""
        if observed.sandbox is None and observed.runs and refusal is None:
            return  # not asked yet in this pass
        told = refusal if observed.sandbox is None else None
        if self._memory.refuse(observed.namespace, observed.name, told):
            for run in observed.runs:
                self._wake(run_key(observed.namespace, run.metadata.name))

    async def _admit(self, key: Key) -> None:
        """Decide the namespace's queue and wake the runs for which something changed."""
        observed = await self._gather.queue(key)
        plan = plan_admission(observed, self._effects.clock.now(), self._effects.settings())
        names = {entry.run.metadata.uid: entry.run.metadata.name for entry in observed.entries}
        for uid in self._memory.admit(key.namespace, plan):
            self._wake(run_key(key.namespace, names[uid]))

    async def _stalled(self, kind: Kind, key: Key) -> bool:
        """Whether the object can't be read; then its status says so. Raises KubeError."""
        broken = self._effects.store.unreadable(kind, key.namespace, key.name)
        if broken is None:
            return False
        _log.warning("unreadable", kind=kind.name, name=str(key), path=broken.path, problem=broken.problem)
        status = self._words(broken)
        if status is None:
            return True
        try:
            written = await self._effects.port.apply_status(
                kind, broken.namespace, broken.name, status, resource_version=broken.resource_version
            )
        except (Conflict, NotFound):
            return True  # news of it are on their way
        self._memory.stalled[broken.uid] = broken.generation
        self._effects.store.put(kind, written)
        return True

    def _words(self, broken: Unreadable) -> dict[str, Any] | None:
        now = self._effects.clock.now()
        if broken.kind is SANDBOX:
            return broken_box_status(broken, now)
        told = self._memory.stalled.get(broken.uid) == broken.generation
        return None if told else broken_status(broken, now)

    def _count_conflict(self, key: Key) -> None:
        self._effects.metrics.conflicts.labels(key.topic).inc()
