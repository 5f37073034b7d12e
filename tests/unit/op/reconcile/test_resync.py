"""What the watch lost is found; what it is only late with is not."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import pytest

from skerry_operator.cache.store import WATCHED, Change, Store
from skerry_operator.errors import Unknown
from skerry_operator.health import Health, Limits
from skerry_operator.kube.kinds import POD, PROFILE, RUN, Kind, Raw
from skerry_operator.metrics import Metrics
from skerry_operator.reconcile.resync import Resync
from skerry_testing.fakeclock import FakeClock, settle
from skerry_testing.fakekube import FakeKube
from skerry_testing.faults import Fault
from skerry_testing.manifests import a_profile, a_run

GRACE = 3.0


@dataclass
class Bench:
    clock: FakeClock
    kube: FakeKube
    store: Store
    health: Health
    metrics: Metrics
    resync: Resync
    changes: list[Change]

    def missed(self, kind: Kind) -> float:
        return self.metrics.registry.get_sample_value("skerry_watch_missed_total", {"kind": kind.name}) or 0.0

    async def check(self) -> None:
        task = asyncio.create_task(self.resync.check())
        await self.clock.advance(GRACE + 1)
        await task


def bench() -> Bench:
    clock, changes = FakeClock(), list[Change]()
    kube, store, metrics = FakeKube(clock), Store(changes.append), Metrics()
    health = Health(clock.monotonic, Limits(1000, 1000, 3))
    resync = Resync(port=kube, store=store, clock=clock, health=health, metrics=metrics, grace=GRACE)
    return Bench(clock, kube, store, health, metrics, resync, changes)


def run(name: str) -> Raw:
    return a_run(name, {"namespace": "ns"})


def runner_pod(name: str) -> Raw:
    labels = {
        "app.kubernetes.io/managed-by": "skerry",
        "skerry.dev/component": "runner",
        "skerry.dev/run": name,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"{name}-1", "namespace": "ns", "labels": labels},
    }


async def test_priming_lists_everything_once_and_only_our_pods() -> None:
    b = bench()
    b.kube.add(RUN, run("a"))
    b.kube.add(POD, runner_pod("a"))
    b.kube.add(POD, {"metadata": {"name": "foreign", "namespace": "ns"}, "apiVersion": "v1", "kind": "Pod"})
    assert b.health.ready()
    await b.resync.prime()
    assert b.health.ready() == ()
    assert [(change.kind, change.name) for change in b.changes] == [(RUN, "a"), (POD, "a-1")]
    assert len(b.kube.faults.calls) == len(WATCHED)


async def test_nothing_new_means_no_wait_and_no_read() -> None:
    b = bench()
    b.kube.add(RUN, run("a"))
    await b.resync.prime()
    calls = len(b.kube.faults.calls)
    await b.resync.check()
    assert len(b.kube.faults.calls) == calls + len(WATCHED)
    assert all(call.verb == "list" for call in b.kube.faults.calls)


async def test_lost_changes_are_read_and_ghosts_dropped() -> None:
    b = bench()
    for name in ("changed", "deleted", "same"):
        b.kube.add(RUN, run(name))
    await b.resync.prime()
    b.kube.edit(RUN, "ns", "changed", lambda found: found["spec"].update(cancel=True))
    b.kube.remove(RUN, "ns", "deleted")
    b.kube.add(RUN, run("created"))
    b.kube.add(PROFILE, a_profile("p") | {"metadata": {"name": "p", "namespace": "ns"}})
    del b.changes[:]
    await b.check()
    assert {(change.name, change.new is None) for change in b.changes} == {
        ("changed", False), ("deleted", True), ("created", False), ("p", False),
    }  # fmt: skip
    changed = b.store.run("ns", "changed")
    assert changed is not None
    assert changed.spec.cancel
    assert (b.missed(RUN), b.missed(PROFILE), b.missed(POD)) == (3, 1, 0)
    assert b.health.missed == {kind: int(kind in {RUN, PROFILE}) for kind in WATCHED}


async def test_what_the_watch_brings_within_the_grace_was_not_missed() -> None:
    b = bench()
    await b.resync.prime()
    made = b.kube.add(RUN, run("a"))
    task = asyncio.create_task(b.resync.check())
    await settle()
    b.store.put(RUN, made)
    await b.clock.advance(GRACE + 1)
    await task
    assert b.missed(RUN) == 0
    assert b.health.missed[RUN] == 0


async def test_an_object_made_and_deleted_between_list_and_look_is_no_ghost_story() -> None:
    b = bench()
    await b.resync.prime()
    made = b.kube.add(RUN, run("a"))
    task = asyncio.create_task(b.resync.check())
    await settle()
    b.store.put(RUN, made)
    b.kube.remove(RUN, "ns", "a")
    b.store.drop(RUN, "ns", "a", int(made["metadata"]["resourceVersion"]) + 1, b.clock.now())
    await b.clock.advance(GRACE + 1)
    await task
    assert b.missed(RUN) == 0
    assert b.store.run("ns", "a") is None


async def test_a_failed_list_drops_nothing_and_is_told() -> None:
    b = bench()
    b.kube.add(RUN, run("a"))
    await b.resync.prime()
    b.kube.faults.every = lambda call: Fault.FAIL if call.kind == "Pod" else None
    b.clock.pause(100)
    with pytest.raises(Unknown):
        await b.check()
    assert b.store.run("ns", "a") is not None
    assert b.health.resync_age() <= GRACE + 1, "it came to an end; a restart would heal nothing"
