"""Events from another thread arrive all, in order, and an odd one stops nobody."""

from __future__ import annotations

import threading

from skerry_operator.cache.store import Change, Store
from skerry_operator.health import Health, Limits
from skerry_operator.inbox import Inbox
from skerry_operator.kube.kinds import RUN, Raw
from skerry_testing.eventually import eventually
from skerry_testing.fakeclock import FakeClock
from skerry_testing.manifests import a_run

TOTAL = 3000


def made(name: str, version: int) -> Raw:
    manifest = a_run(name)
    manifest["metadata"] |= {"namespace": "ns", "uid": name, "resourceVersion": str(version)}
    return manifest


def make() -> tuple[Inbox, list[Change], Health]:
    changes: list[Change] = []
    clock = FakeClock()
    health = Health(clock.monotonic, Limits(1, 1, 1))
    return Inbox(Store(changes.append), clock, health), changes, health


async def test_all_arrive_in_order_from_another_thread() -> None:
    inbox, changes, health = make()

    def post() -> None:
        for number in range(TOTAL):
            inbox.post(RUN, "ADDED", made(f"r{number}", number + 1))

    thread = threading.Thread(target=post)
    thread.start()
    await eventually(lambda: len(changes) == TOTAL)
    thread.join()
    assert [change.name for change in changes] == [f"r{number}" for number in range(TOTAL)]
    assert RUN in health.delivered


async def test_listed_changed_deleted() -> None:
    inbox, changes, _ = make()
    inbox.post(RUN, None, made("a", 1))
    inbox.post(RUN, "MODIFIED", made("a", 2))
    inbox.post(RUN, "MODIFIED", made("a", 2))
    inbox.post(RUN, "DELETED", made("a", 3))
    await eventually(lambda: len(changes) == 3)
    assert [(change.old is None, change.new is None) for change in changes] == [
        (True, False), (False, False), (False, True),
    ]  # fmt: skip


async def test_an_odd_object_stops_nobody() -> None:
    inbox, changes, _ = make()
    inbox.post(RUN, "ADDED", {"metadata": {"name": "odd"}})
    inbox.post(RUN, "ADDED", made("a", 1))
    await eventually(lambda: len(changes) == 1)
    assert changes[0].name == "a"


async def test_a_closed_inbox_schedules_nothing() -> None:
    inbox, changes, _ = make()
    inbox.close()
    inbox.post(RUN, "ADDED", made("a", 1))
    assert changes == []
