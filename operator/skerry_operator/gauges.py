"""Reads the live structures when somebody scrapes: nothing has to be kept up to date in between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from skerry_api.agentrun import AgentRun
from skerry_api.phases import RunPhase
from skerry_operator.cache.store import WATCHED, Store
from skerry_operator.health import Health
from skerry_operator.keys import Key
from skerry_operator.kube.kinds import RUN
from skerry_operator.metrics import Snapshot
from skerry_operator.queue.workqueue import WorkQueue

__all__ = ["snapshot"]


def snapshot(
    store: Store, health: Health, queue: Callable[[], WorkQueue[Key] | None], leads: Callable[[], bool]
) -> Snapshot:
    """Values of the gauges now; the queue's are 0 while this process does not lead."""
    phases = Counter(
        str(entry.value.status.phase or RunPhase.PENDING)
        for _, _, entry in store.table(RUN).names()
        if isinstance(entry.value, AgentRun)
    )
    work = queue()
    return {
        "skerry_queue_depth": {(): float(work.depth if work else 0)},
        "skerry_queue_delayed": {(): float(work.delayed if work else 0)},
        "skerry_queue_oldest_seconds": {(): work.age() if work else 0.0},
        "skerry_runs": {(phase.value,): float(phases[phase.value]) for phase in RunPhase},
        "skerry_cached_objects": {(kind.name,): float(len(store.table(kind))) for kind in WATCHED},
        "skerry_watch_age_seconds": {(kind.name,): age for kind, age in health.watch_ages().items()},
        "skerry_resync_age_seconds": {(): health.resync_age()},
        "skerry_leader": {(): float(leads())},
    }
