"""What a live read may do to the cache while watches go on."""

from __future__ import annotations

import asyncio

from typing_extensions import override

from skerry_operator.cache.store import Store
from skerry_operator.kube.kinds import RUN, Kind, Raw
from skerry_operator.reconcile.reader import Reader
from skerry_testing.fakeclock import FakeClock
from skerry_testing.fakekube import FakeKube
from skerry_testing.manifests import a_run

A_RUN = a_run("a", {"namespace": "ns"})


class LateAnswers(FakeKube):
    """Answers to get are as of the question, and on their way until `arrive` is set."""

    def __init__(self) -> None:
        super().__init__(FakeClock())
        self.asked, self.arrive = asyncio.Event(), asyncio.Event()

    @override
    async def get(self, kind: Kind, namespace: str, name: str) -> Raw | None:
        answer = await super().get(kind, namespace, name)
        self.asked.set()
        await self.arrive.wait()
        return answer


async def asked(kube: LateAnswers, store: Store) -> asyncio.Task[None]:
    reading = asyncio.create_task(Reader(kube, store, kube.clock).refresh(RUN, "ns", "a"))
    await kube.asked.wait()
    return reading


async def test_an_old_not_found_does_not_end_what_came_meanwhile() -> None:
    kube, store = LateAnswers(), Store()
    reading = await asked(kube, store)
    store.put(RUN, kube.add(RUN, A_RUN))
    kube.arrive.set()
    await reading
    assert store.run("ns", "a") is not None


async def test_an_old_not_found_does_not_end_a_successor() -> None:
    kube, store = LateAnswers(), Store()
    store.put(RUN, kube.add(RUN, A_RUN))
    kube.remove(RUN, "ns", "a")  # the watch has not told yet
    reading = await asked(kube, store)
    store.put(RUN, kube.add(RUN, A_RUN))
    kube.arrive.set()
    await reading
    assert store.run("ns", "a") is not None


async def test_not_found_ends_what_was_known_before() -> None:
    kube, store = LateAnswers(), Store()
    store.put(RUN, kube.add(RUN, A_RUN))
    kube.remove(RUN, "ns", "a")
    kube.arrive.set()
    await (await asked(kube, store))
    assert store.run("ns", "a") is None
