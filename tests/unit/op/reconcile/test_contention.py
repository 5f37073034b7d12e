"""Other writers, a slow or refusing API server, a second operator that believes it leads: harmless."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from skerry_api.names import sandbox_id
from skerry_operator.errors import Conflict, Forbidden, Invalid
from skerry_operator.kube.kinds import POD, RUN, Raw
from skerry_testing.fakeclock import settle
from skerry_testing.faults import Call, Fault
from skerry_testing.opworld import NAMESPACE, OpWorld

BOX = sandbox_id(NAMESPACE, "default", "t1")


async def begun(world: OpWorld, **spec: Any) -> None:
    world.prepare()
    await world.start()
    world.submit(**spec)
    await world.settle()


async def test_a_storm_of_conflicts_ends_in_one_right_status() -> None:
    world = OpWorld()
    left = [6]

    def stale(call: Call, _body: Raw) -> Exception | None:
        if call.verb == "status" and left[0]:
            left[0] -= 1
            return Conflict("the object has been modified")
        return None

    world.kube.refuse(stale)
    await begun(world)
    assert left == [0]
    assert world.phase() == "Provisioning"
    assert [pod["metadata"]["name"] for pod in world.pods()] == ["hello-1"]


async def test_a_runner_that_writes_between_plan_and_apply_is_seen() -> None:
    """The status is planned on a version: what the runner said meanwhile is not overlooked."""
    world = OpWorld()
    await begun(world)
    world.kubelet_runs("hello-1")
    said = [False]

    def meanwhile(call: Call, body: Raw) -> Exception | None:
        if call.verb == "status" and body.get("phase") == "Running" and not said[0]:
            said[0] = True
            world.report_end(stopReason="EndTurn")
            return Conflict("the object has been modified")
        return None

    world.kube.refuse(meanwhile)
    await world.settle()
    assert world.phase() == "Succeeded"


async def test_conflicts_without_end_become_a_back_off_and_no_hot_loop() -> None:
    world = OpWorld()
    world.kube.refuse(lambda call, _: Conflict("always") if call.verb == "status" else None)
    await begun(world)
    before = len(world.kube.faults.calls)
    await world.go(60)
    assert len(world.kube.faults.calls) - before < 1000
    assert world.term is not None
    assert world.term.queue.delayed == 1


@pytest.mark.parametrize("thread", ["t1", None])
async def test_two_active_operators_do_no_harm(thread: str | None) -> None:
    """Both lead at once, pass by pass in turn, over a whole run with a sandbox."""
    first = OpWorld()
    second = OpWorld(first.clock, first.kube, keys=first.keys)
    made: list[str] = []
    first.kube.watch(
        lambda kind, event, raw: (
            made.append(raw["metadata"]["name"]) if kind is POD and event == "ADDED" else None
        )
    )
    first.prepare()
    await first.start()
    await second.start()

    async def both() -> None:
        while any(world.term is not None and world.term.queue.depth for world in (first, second)):
            for world in (first, second):
                assert world.term is not None
                if world.term.queue.depth:
                    await world.term.worker.step()

    run = first.submit(**({"threadId": thread} if thread else {}))
    box = sandbox_id(NAMESPACE, "default", thread or run["metadata"]["uid"])
    await both()
    first.kubelet_runs("hello-1")
    await both()
    first.ask_for_sandbox()
    await both()
    first.kubelet_runs(box)
    await both()
    first.report_end()
    await both()
    first.kubelet_ends("hello-1")
    await both()
    assert made == ["hello-1", box]
    assert (first.phase(), first.status()["epoch"]) == ("Succeeded", 1)


async def test_two_operators_at_the_same_instant_make_one_pod() -> None:
    first = OpWorld()
    second = OpWorld(first.clock, first.kube, keys=first.keys)
    first.prepare()
    await first.start()
    await second.start()
    first.submit()
    await asyncio.gather(first.settle(), second.settle())
    await asyncio.gather(first.settle(), second.settle())
    assert [pod["metadata"]["name"] for pod in first.pods()] == ["hello-1"]
    assert (first.phase(), first.status()["epoch"]) == ("Provisioning", 1)


async def test_an_unknown_answer_is_never_absence() -> None:
    """Reads fail while a Pod is missing from the cache: no new epoch, no end, until the API server can say."""
    world = OpWorld()
    await begun(world)
    world.kubelet_runs("hello-1")
    await world.settle()
    world.kube.faults.every = lambda _call: Fault.FAIL
    known = world.store.version(POD, NAMESPACE, "hello-1")
    world.store.gone(POD, NAMESPACE, "hello-1", known, world.clock.now())
    world.store.table(POD)._tombstones.clear()  # never heard of, rather than seen to go
    await world.go(30)
    assert (world.phase(), world.status()["epoch"]) == ("Running", 1)
    world.kube.faults.every = lambda _call: None
    await world.go(60)
    assert (world.phase(), world.status()["epoch"]) == ("Running", 1)
    assert len(world.pods()) == 1


async def test_an_api_server_that_is_down_for_minutes_costs_few_tries() -> None:
    world = OpWorld()
    world.prepare()
    await world.start()
    world.kube.faults.every = lambda _call: Fault.FAIL
    world.submit()
    before = len(world.kube.faults.calls)
    await world.go(600)
    tried = len(world.kube.faults.calls) - before
    assert tried < 200, "back-off, not a hot loop"
    world.kube.faults.every = lambda _call: None
    await world.go(310)
    assert world.phase() == "Provisioning", "the longest back-off is five minutes"


async def test_a_hung_call_holds_up_one_key_only() -> None:
    world = OpWorld()
    world.prepare()
    await world.start()
    world.submit("stuck")
    world.submit("free")

    def hang(call: Call) -> Fault | None:
        return Fault.HANG if call.verb == "create" and call.name == "stuck-1" else None

    world.kube.faults.every = hang
    assert world.term is not None
    worker = world.term.worker
    workers = [asyncio.create_task(worker.run()) for _ in range(3)]
    await settle()
    assert world.phase("free") == "Provisioning"
    assert world.phase("stuck") is None
    for task in workers:
        task.cancel()
    await asyncio.gather(*workers, return_exceptions=True)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (lambda: Forbidden("exceeded quota: compute, used: 4"), "exceeded quota"),
        (lambda: Invalid("spec.containers[0].image: Required value"), "Required value"),
    ],
)
async def test_a_refused_pod_is_told_in_the_servers_words_and_tried_again_at_ease(
    error: Callable[[], Exception], words: str
) -> None:
    world = OpWorld()
    refusing = [True]
    world.kube.refuse(
        lambda call, _: error() if refusing[0] and call.verb == "create" and call.kind == "Pod" else None
    )
    await begun(world)
    ready = next(each for each in world.status()["conditions"] if each["type"] == "Ready")
    assert words in ready["message"]
    before = len(world.writes())
    await world.go(60)
    assert len(world.writes()) - before <= 6
    refusing[0] = False
    await world.go(60)
    assert world.phase() == "Provisioning"
    assert [pod["metadata"]["name"] for pod in world.pods()] == ["hello-1"]


async def test_a_strangers_pod_of_our_name_is_not_taken_for_ours_nor_deleted() -> None:
    world = OpWorld()
    world.prepare()
    await world.start()
    labels = {"skerry.dev/component": "runner"}
    metadata = {"name": "hello-1", "namespace": NAMESPACE, "labels": labels}
    world.kube.add(POD, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {}})
    world.submit()
    await world.go(30)
    assert world.phase() != "Running"
    assert "delete Pod" not in world.writes()
    world.kubelet_removes("hello-1")
    await world.go(60)
    (pod,) = world.pods()
    assert pod["metadata"]["ownerReferences"][0]["uid"] == world.run()["metadata"]["uid"]


async def test_a_run_recreated_under_its_name_starts_clean() -> None:
    world = OpWorld()
    await begun(world)
    world.kubelet_runs("hello-1")
    await world.settle()
    old = world.run()["metadata"]["uid"]
    world.kube.remove(RUN, NAMESPACE, "hello")
    world.submit()
    await world.go(30)
    (pod,) = world.pods()
    assert pod["metadata"]["ownerReferences"][0]["uid"] == old, "the old one is terminating, and waited for"
    assert "deletionTimestamp" in pod["metadata"]
    world.kubelet_removes("hello-1")
    await world.go(30)
    (pod,) = world.pods()
    assert pod["metadata"]["ownerReferences"][0]["uid"] == world.run()["metadata"]["uid"] != old
    assert world.status()["epoch"] == 1


async def test_an_unchanged_world_is_written_nothing() -> None:
    world = OpWorld()
    await begun(world)
    world.kubelet_runs("hello-1")
    await world.settle()
    before = len(world.writes())
    for _ in range(5):
        await world.compare()
    await world.restart()
    await world.go(600)
    assert len(world.writes()) == before
