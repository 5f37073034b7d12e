"""Questions through the loop: the sandbox is let go of and had again, also when the operator dies at any call."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_api.names import sandbox_id
from skerry_operator.kube.kinds import RUN
from skerry_testing.faults import Crash, Fault, Faults
from skerry_testing.manifests import a_class
from skerry_testing.opworld import NAMESPACE, OpWorld

Json = dict[str, Any]
THREAD = "t1"
BOX = sandbox_id(NAMESPACE, "default", THREAD)
QUESTION = {"id": "q-1", "type": "ApproachChoice", "text": "Red or blue?", "options": ["red", "blue"]}


def answer(world: OpWorld, *ids: str) -> None:
    given = [{"questionId": id_, "text": "blue"} for id_ in ids]
    world.kube.edit(RUN, NAMESPACE, "hello", lambda run: run["spec"].update(answers=given))


def cancel(world: OpWorld) -> None:
    world.kube.edit(RUN, NAMESPACE, "hello", lambda run: run["spec"].update(cancel=True))


def box_of(world: OpWorld) -> str:
    run = world.run()
    return sandbox_id(NAMESPACE, "default", run["spec"].get("threadId") or run["metadata"]["uid"])


def sandbox_phase(world: OpWorld) -> str | None:
    sandbox = world.sandbox()
    return sandbox["status"]["phase"] if sandbox else None


async def until_asked(world: OpWorld, **spec: Any) -> None:
    """A run with a sandbox whose runner has ended with a question."""
    await world.start()
    world.submit(**spec)
    await world.settle()
    world.kubelet_runs("hello-1")
    await world.settle()
    world.ask_for_sandbox()
    await world.settle()
    world.kubelet_runs(box_of(world))
    await world.settle()
    world.report(sandboxId=box_of(world), progress={"turn": 1, "modelCalls": 1, "toolCalls": 2})
    world.report_end(outcome="AwaitingInput", question=QUESTION)
    await world.settle()
    world.kubelet_ends("hello-1")
    await world.go(1)


async def next_epoch(world: OpWorld) -> None:
    """The next runner starts, and asks for its sandbox."""
    world.kubelet_runs("hello-2")
    await world.settle()
    assert (world.phase(), world.status()["sandbox"]["state"]) == ("Running", "Released")
    world.ask_for_sandbox()
    await world.settle()


@pytest.mark.parametrize("spec", [{"threadId": THREAD}, {}], ids=["thread", "own thread"])
@pytest.mark.parametrize("release", ["Park", "Destroy"])
async def test_the_sandbox_is_parked_and_had_again(spec: Json, release: str) -> None:
    world = OpWorld()
    world.prepare(a_class("default", release=release))
    await until_asked(world, **spec)
    status = world.status()
    assert (status["phase"], status["sandbox"]["state"], status["runner"]["question"]["id"]) == (
        "AwaitingInput", "Released", "q-1",
    )  # fmt: skip
    assert "grant" not in status["sandbox"]
    sandbox = world.sandbox()
    assert sandbox is not None
    assert (sandbox["status"]["phase"], "holder" in sandbox["status"]) == ("Parked", False)
    (pod,) = world.pods("sandbox")
    answer(world, "q-1")
    await world.settle()
    assert (world.phase(), [pod["metadata"]["name"] for pod in world.pods()]) == ("Provisioning", ["hello-2"])
    await next_epoch(world)
    status = world.status()
    assert (status["phase"], status["epoch"], status["attempts"]) == ("Running", 2, 1)
    use = status["sandbox"]
    assert (use["state"], use["podUID"], use["replacements"]) == ("Ready", pod["metadata"]["uid"], 0)
    assert sandbox_phase(world) == "Ready"
    world.report_end()
    await world.settle()
    assert world.phase() == "Succeeded"
    kept = release == "Park" and bool(spec)
    assert sandbox_phase(world) == ("Parked" if kept else None)


async def test_waiting_costs_no_writes_and_no_pod_but_the_logs() -> None:
    world = OpWorld()
    world.prepare(a_class("default", idleSeconds=86_400))
    await until_asked(world, threadId=THREAD)
    before = world.writes()
    await world.go(3500)
    assert world.writes() == before
    await world.go(200)
    assert world.pods() == [], "kept for its logs as long as after an end"


async def test_the_park_clock_ends_a_sandbox_that_nobody_came_back_for() -> None:
    world = OpWorld()
    world.prepare()
    await until_asked(world)
    await world.go(700)
    assert world.sandbox() is None
    world.kube.collect_garbage()
    world.kubelet_removes(box_of(world))
    answer(world, "q-1")
    await world.settle()
    await next_epoch(world)
    world.kubelet_runs(box_of(world))
    await world.settle()
    use = world.status()["sandbox"]
    assert (use["state"], use["replacements"]) == ("Ready", 0)


@pytest.mark.parametrize("spec", [{"threadId": THREAD}, {}], ids=["thread", "own thread"])
async def test_cancel_while_it_waits(spec: Json) -> None:
    world = OpWorld()
    world.prepare()
    await until_asked(world, **spec)
    cancel(world)
    await world.settle()
    assert world.phase() == "Cancelled"
    assert sandbox_phase(world) == ("Parked" if spec else None)


async def test_deletion_while_it_waits() -> None:
    world = OpWorld()
    world.prepare()
    await until_asked(world, threadId=THREAD)
    world.kube.remove(RUN, NAMESPACE, "hello")
    world.kube.collect_garbage()
    await world.go(1)
    assert sandbox_phase(world) == "Parked"
    assert world.pods() == []


async def test_the_answer_to_another_question_changes_nothing_but_the_words() -> None:
    world = OpWorld()
    world.prepare()
    await until_asked(world, threadId=THREAD)
    before = len(world.writes())
    answer(world, "q-0")
    await world.settle()
    assert world.phase() == "AwaitingInput"
    assert world.writes()[before:] == ["status AgentRun"]
    answer(world, "q-0", "q-1")
    await world.settle()
    assert world.phase() == "Provisioning"


async def test_in_place_the_sandbox_and_its_grant_stay() -> None:
    world = OpWorld()
    world.prepare()
    await world.start()
    world.submit(threadId=THREAD)
    await world.settle()
    world.kubelet_runs("hello-1")
    await world.settle()
    world.ask_for_sandbox()
    await world.settle()
    world.kubelet_runs(BOX)
    await world.settle()
    before = world.status()["sandbox"]
    world.report(question=QUESTION, progress={"turn": 1, "modelCalls": 1, "toolCalls": 1})
    await world.settle()
    assert (world.phase(), world.status()["sandbox"], sandbox_phase(world)) == (
        "AwaitingInput",
        before,
        "Ready",
    )
    await world.go(5000)
    assert (world.phase(), world.status()["sandbox"]) == ("AwaitingInput", before)
    answer(world, "q-1")
    await world.settle()
    assert world.phase() == "Running"
    assert world.status()["sandbox"]["grant"] != before["grant"], "it ends with the deadline, which has moved"
    report = world.status()["runner"]
    report.pop("question")
    world.kube.set_status(RUN, NAMESPACE, "hello", {"runner": report}, "skerry-runner")
    world.report_end()
    await world.settle()
    assert (world.phase(), len(world.pods())) == ("Succeeded", 1)


async def survive(world: OpWorld) -> None:
    try:
        await world.settle()
    except Crash:
        await world.restart()
        await world.settle()


async def story(world: OpWorld) -> None:
    """A question, its answer, the end; a dead operator is started again."""
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
    world.report(sandboxId=BOX, progress={"turn": 1, "modelCalls": 1, "toolCalls": 2})
    world.report_end(outcome="AwaitingInput", question=QUESTION)
    await survive(world)
    world.kubelet_ends("hello-1")
    await survive(world)
    answer(world, "q-1")
    await survive(world)
    world.kubelet_runs("hello-2")
    await survive(world)
    world.ask_for_sandbox()
    await survive(world)
    world.report_end()
    await survive(world)
    world.kubelet_ends("hello-2")
    await survive(world)


class Watcher:
    """What must never be the case; and how often a Pod was made."""

    def __init__(self, world: OpWorld) -> None:
        self.world, self.made, self.phases = world, [], []  # type: tuple[OpWorld, list[str], list[str]]
        world.kube.watch(self.see)

    def see(self, kind: Any, event: str, raw: Any) -> None:
        if event == "ADDED" and kind.name == "Pod":
            self.made.append(raw["metadata"]["name"])
        assert len(self.world.pods("runner")) <= 1, "two Pods of one run"
        assert len(self.world.pods("sandbox")) <= 1
        phase = (raw.get("status") or {}).get("phase")
        if kind is RUN and phase and self.phases[-1:] != [phase]:
            self.phases.append(phase)


@pytest.mark.parametrize("fault", [Fault.CRASH_BEFORE, Fault.CRASH_AFTER])
async def test_killed_at_every_call_of_a_question(fault: Fault) -> None:
    plain = OpWorld()
    watcher = Watcher(plain)
    await story(plain)
    assert watcher.phases == [
        "Provisioning",
        "Running",
        "AwaitingInput",
        "Provisioning",
        "Running",
        "Succeeded",
    ]
    total = len(plain.kube.faults.calls)
    assert total > 30
    for number in range(total):
        world = OpWorld()
        world.kube.faults = Faults(at={number: fault})
        watcher = Watcher(world)
        await story(world)
        status = world.status()
        assert status["phase"] == "Succeeded", f"call {number}"
        assert watcher.made == ["hello-1", BOX, "hello-2"]
        assert (status["epoch"], status["attempts"], sandbox_phase(world)) == (2, 1, "Parked")
