"""What a live read may do to the cache while watches go on."""

from __future__ import annotations

import asyncio

from typing_extensions import override

from skerry_operator.cache.store import Store
from skerry_operator.kube.kinds import CONFIG_MAP, RUN, Kind, Raw
from skerry_operator.plan.lookup import Found, Missing
from skerry_operator.plan.types import TextRef
from skerry_operator.reconcile.reader import Reader
from skerry_testing.fakeclock import FakeClock
from skerry_testing.fakekube import FakeKube
from skerry_testing.manifests import a_run

A_RUN = a_run("a", {"namespace": "ns"})


class Counting(FakeKube):
    """Counts its gets."""

    gets = 0

    @override
    async def get(self, kind: Kind, namespace: str, name: str) -> Raw | None:
        self.gets += 1
        return await super().get(kind, namespace, name)


async def test_keys_of_config_maps_text_and_binary() -> None:
    kube = Counting(FakeClock())
    config_map = {
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "ns"},
        "data": {"t": "text"}, "binaryData": {"b": "AP8="},
    }  # fmt: skip
    kube.add(CONFIG_MAP, config_map)
    refs = [
        TextRef("c", "t"), TextRef("c", "b"), TextRef("c", "t", mounted=True), TextRef("c", "b", mounted=True),
        TextRef("c", "x", mounted=True), TextRef("none", "t", mounted=True),
    ]  # fmt: skip
    found = await Reader(kube, Store(), kube.clock).texts("ns", refs)
    assert list(found.values()) == [
        Found("text"), Missing("key b in ConfigMap c"), Found(""), Found(""), Missing("key x in ConfigMap c"),
        Missing("ConfigMap none"),
    ]  # fmt: skip
    assert kube.gets == 2


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
