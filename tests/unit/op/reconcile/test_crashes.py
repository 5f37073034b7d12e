"""The operator dies at every call that it makes, before and after it takes effect: nothing is lost or doubled."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_api.names import sandbox_id
from skerry_operator.kube.kinds import POD, RUN, SANDBOX
from skerry_testing.faults import Crash, Fault, Faults
from skerry_testing.opworld import NAMESPACE, OpWorld

THREAD = "t1"
BOX = sandbox_id(NAMESPACE, "default", THREAD)
CRASHES = [Fault.CRASH_BEFORE, Fault.CRASH_AFTER]


class Invariants:
    """Watches every change of the cluster: what must never be the case, not even for a moment."""

    def __init__(self, world: OpWorld) -> None:
        self.world = world
        self.epochs: dict[str, int] = {}
        self.ended: dict[str, str] = {}
        self.pods_made: list[str] = []
        world.kube.watch(self.check)

    def check(self, kind: Any, event: str, raw: Any) -> None:
        if kind is POD and event == "ADDED":
            self.pods_made.append(raw["metadata"]["name"])
        assert len(self.world.pods("runner")) <= 1, "two Pods of one run"
        assert len(self.world.pods("sandbox")) <= 1, "two Pods of one sandbox"
        assert len(self.world.kube.all(SANDBOX)) <= 1
        if kind is RUN and event != "DELETED":
            uid, status = raw["metadata"]["uid"], raw.get("status") or {}
            assert status.get("epoch", 0) >= self.epochs.get(uid, 0), "an epoch went back"
            self.epochs[uid] = status.get("epoch", 0)
            if uid in self.ended:
                assert status["phase"] == self.ended[uid], "a terminal phase was left"
            if status.get("phase") in {"Succeeded", "Failed", "Cancelled", "TimedOut"}:
                self.ended[uid] = status["phase"]


async def survive(world: OpWorld) -> None:
    """Settle; a dead operator is started again."""
    try:
        await world.settle()
    except Crash:
        await world.restart()
        await world.settle()


async def whole_run(world: OpWorld) -> None:
    """From apply to a parked sandbox; each step of kubelet and runner comes when the operator is at rest."""
    world.prepare()
    try:
        await world.start()
    except Crash:
        world.kill()
        await world.restart()
    world.submit(threadId=THREAD)
    await survive(world)
    world.kubelet_runs("hello-1")
    await survive(world)
    world.ask_for_sandbox()
    await survive(world)
    world.kubelet_runs(BOX)
    await survive(world)
    world.report(sandboxId=BOX, progress={"turn": 1, "modelCalls": 1, "toolCalls": 1})
    world.report_end()
    await survive(world)
    world.kubelet_ends("hello-1")
    await survive(world)


def check_end(world: OpWorld, invariants: Invariants) -> None:
    assert world.phase() == "Succeeded"
    assert (world.status()["epoch"], world.status()["attempts"]) == (1, 1)
    assert invariants.pods_made == ["hello-1", BOX]
    sandbox = world.sandbox()
    assert sandbox is not None
    assert sandbox["status"]["phase"] == "Parked"
    assert world.status()["sandbox"]["state"] == "Released"


async def calls_of_a_whole_run() -> int:
    world = OpWorld()
    invariants = Invariants(world)
    await whole_run(world)
    check_end(world, invariants)
    return len(world.kube.faults.calls)


@pytest.mark.parametrize("fault", CRASHES)
async def test_killed_at_every_call(fault: Fault) -> None:
    total = await calls_of_a_whole_run()
    assert total > 20
    for number in range(total):
        world = OpWorld()
        world.kube.faults = Faults(at={number: fault})
        invariants = Invariants(world)
        await whole_run(world)
        check_end(world, invariants)


@pytest.mark.parametrize("fault", [Fault.FAIL, Fault.LOSE_REPLY])
async def test_every_call_fails_once_or_loses_its_answer(fault: Fault) -> None:
    total = await calls_of_a_whole_run()
    for number in range(5, total):  # the first five fill the cache, before there is anything to do
        world = OpWorld()
        world.kube.faults = Faults(at={number: fault})
        invariants = Invariants(world)
        world.prepare()
        await world.start()
        world.submit(threadId=THREAD)
        await world.go(2)
        world.kubelet_runs("hello-1")
        await world.go(2)
        world.ask_for_sandbox()
        await world.go(2)
        world.kubelet_runs(BOX)
        await world.go(2)
        world.report_end()
        await world.go(2)
        world.kubelet_ends("hello-1")
        await world.go(2)
        check_end(world, invariants)


@pytest.mark.parametrize("fault", CRASHES)
async def test_killed_at_every_call_of_a_retry(fault: Fault) -> None:
    """The runner Pod vanishes before any tool ran: exactly one new epoch, whenever the operator dies."""

    async def story(world: OpWorld) -> None:
        world.prepare()
        try:
            await world.start()
        except Crash:
            world.kill()
            await world.restart()
        world.submit()
        await survive(world)
        world.kubelet_runs("hello-1")
        await survive(world)
        world.kubelet_removes("hello-1")
        await survive(world)
        world.kubelet_runs("hello-2")
        await survive(world)
        world.report_end()
        await survive(world)

    plain = OpWorld()
    await story(plain)
    assert plain.phase() == "Succeeded"
    for number in range(len(plain.kube.faults.calls)):
        world = OpWorld()
        world.kube.faults = Faults(at={number: fault})
        invariants = Invariants(world)
        await story(world)
        assert world.phase() == "Succeeded", f"call {number}"
        assert invariants.pods_made == ["hello-1", "hello-2"]
        assert (world.status()["epoch"], world.status()["attempts"]) == (2, 2)


async def test_a_deaf_operator_learns_everything_from_resyncs() -> None:
    """The watch tells nothing at all: runs end nevertheless."""
    world = OpWorld()
    invariants = Invariants(world)
    world.prepare()
    await world.start()
    world.deaf = True
    world.submit(threadId=THREAD)
    await world.compare()
    world.kubelet_runs("hello-1")
    await world.compare()
    world.ask_for_sandbox()
    await world.compare()
    world.kubelet_runs(BOX)
    await world.compare()
    world.report_end()
    await world.compare()
    world.kubelet_ends("hello-1")
    await world.compare()
    check_end(world, invariants)
