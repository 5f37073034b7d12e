"""reconcile(key): binds the pure planners to gathering and applying."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import structlog

from skerry_operator.cache.parse import Unreadable
from skerry_operator.errors import Conflict, NotFound
from skerry_operator.keys import Key, Topic, run_key
from skerry_operator.kube.kinds import RUN, SANDBOX
from skerry_operator.plan.actions import Refusal
from skerry_operator.plan.admission import plan_admission
from skerry_operator.plan.run import plan_run
from skerry_operator.plan.sandbox import plan_sandbox
from skerry_operator.plan.types import ObservedSandbox, Plan
from skerry_operator.plan.volumes import plan_volumes
from skerry_operator.reconcile.apply import Applier
from skerry_operator.reconcile.broken import broken_status
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
        broken = self._effects.store.unreadable(RUN, key.namespace, key.name)
        if broken is not None:
            await self._stall(broken)
            return None
        return await self._rounds.settle(key, self._look_at_run)

    async def _sandbox(self, key: Key) -> datetime | None:
        broken = self._effects.store.unreadable(SANDBOX, key.namespace, key.name)
        if broken is not None:
            _log.warning("unreadable", kind=broken.kind.name, name=str(key), path=broken.path)
            return None
        return await self._rounds.settle(key, self._look_at_sandbox)

    async def _look_at_run(self, key: Key, live: bool, refusal: Refusal | None) -> View:
        observed = await self._gather.run(key, live=live, refusal=refusal)
        plan = plan_run(observed, self._effects.clock.now(), self._effects.settings())
        return View(plan, observed.run)

    async def _look_at_sandbox(self, key: Key, live: bool, refusal: Refusal | None) -> View:
        observed = await self._gather.sandbox(key, live=live, refusal=refusal)
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

    async def _stall(self, broken: Unreadable) -> None:
        _log.warning(
            "unreadable",
            kind=broken.kind.name,
            name=f"{broken.namespace}/{broken.name}",
            path=broken.path,
            problem=broken.problem,
        )
        status = broken_status(broken, self._effects.clock.now())
        if status is None or self._memory.stalled.get(broken.uid) == broken.generation:
            return
        try:
            written = await self._effects.port.apply_status(
                RUN, broken.namespace, broken.name, status, resource_version=broken.resource_version
            )
        except (Conflict, NotFound):
            return  # news of it are on their way
        self._memory.stalled[broken.uid] = broken.generation
        self._effects.store.put(RUN, written)

    def _count_conflict(self, key: Key) -> None:
        self._effects.metrics.conflicts.labels(key.topic).inc()
