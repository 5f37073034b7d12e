"""Whole lives in a world in memory: what is written for the usual ones, and what never happens in odd ones."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from skerry_api.agentrun import AgentRun
from skerry_api.phases import TERMINAL
from skerry_operator.plan.podview import NodeState
from skerry_operator.plan.resolve import sandbox_name
from skerry_testing.planworld import PlanWorld

EVICTED = {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}


def life(world: PlanWorld, *steps: Callable[[], object]) -> None:
    for step in steps:
        step()
        world.settle()


def box_of(world: PlanWorld, run: str) -> str:
    return sandbox_name(AgentRun.read(world.runs[run]))


def phase(world: PlanWorld, run: str) -> str:
    found: str = world.runs[run]["status"]["phase"]
    return found


def test_a_run_without_a_sandbox_takes_four_writes() -> None:
    world = PlanWorld()
    life(
        world,
        lambda: world.create_run("r"),
        lambda: world.start_pod("r-1"),
        lambda: world.report("r", progress={"toolCalls": 1}),
        lambda: world.report("r", outcome={"class": "Succeeded"}),
        lambda: world.end_pod("r-1"),
    )
    assert phase(world, "r") == "Succeeded"
    assert dict(world.writes) == {"CreatePod": 1, "status": 3}
    assert world.events == ["Started", "Running", "Succeeded"]
    assert world.sandboxes == {}


@pytest.mark.parametrize(
    ("spec", "end", "most"),
    [
        ({"threadId": "t"}, "Parked", 10),
        ({}, None, 10),
        ({"threadId": "t", "sandbox": {"classRef": {"name": "gpu"}}}, None, 10),
        ({"threadId": "t", "sandbox": {"acquire": "Eager"}}, "Parked", 10),
    ],
)
def test_a_run_with_a_sandbox_keeps_the_budget(spec: dict[str, object], end: str | None, most: int) -> None:
    world = PlanWorld()
    world.create_run("r", **spec)
    box = box_of(world, "r")
    life(
        world,
        lambda: None,
        lambda: world.start_pod("r-1"),
        lambda: world.ask_sandbox("r"),
        lambda: world.start_pod(box),
        lambda: world.report("r", outcome={"class": "Succeeded"}),
        lambda: world.end_pod("r-1"),
        world.finish_deletes,
    )
    assert phase(world, "r") == "Succeeded"
    assert world.runs["r"]["status"]["sandbox"]["state"] == "Released"
    assert "grant" not in world.runs["r"]["status"]["sandbox"]
    assert (world.sandboxes[box]["status"]["phase"] if end else world.sandboxes) == (end or {})
    policies = world.writes.pop("ApplyPolicy")  # once per class and namespace, not per run
    assert policies == 1
    assert world.writes.total() <= most
    assert len(world.events) <= 4
    assert world.mints == 1


def test_the_second_run_of_a_thread_waits_and_takes_the_parked_sandbox() -> None:
    world = PlanWorld()
    world.create_run("a", threadId="t")
    world.pass_time(1)
    world.create_run("b", threadId="t")
    box = box_of(world, "a")
    life(
        world,
        lambda: None,
        lambda: world.start_pod("a-1"),
        lambda: world.ask_sandbox("a"),
        lambda: world.start_pod(box),
    )
    assert world.runs["b"]["status"]["queue"] == {"position": 1, "reason": "ThreadBusy"}
    uid = world.sandboxes[box]["status"]["podUID"]
    life(
        world,
        lambda: world.report("a", outcome={"class": "Succeeded"}),
        lambda: world.start_pod("b-1"),
        lambda: world.ask_sandbox("b"),
    )
    assert world.sandboxes[box]["status"]["holder"]["name"] == "b"
    assert world.runs["b"]["status"]["sandbox"] | {"grant": ""} == {
        "name": box, "state": "Ready", "className": "default", "podUID": uid, "replacements": 0, "endpoint": "http://10.1.1.1:8090", "grant": "",
    }  # fmt: skip


def test_a_lost_sandbox_is_replaced_with_a_new_grant() -> None:
    world = PlanWorld()
    world.create_run("r")
    box = box_of(world, "r")
    life(
        world,
        lambda: None,
        lambda: world.start_pod("r-1"),
        lambda: world.ask_sandbox("r"),
        lambda: world.start_pod(box),
        lambda: world.take_pod(box),
    )
    before = world.pods[box]["metadata"]["uid"]
    assert world.runs["r"]["status"]["sandbox"]["state"] == "Replacing"
    life(world, world.finish_deletes, lambda: world.start_pod(box))
    use = world.runs["r"]["status"]["sandbox"]
    assert (use["state"], use["replacements"], use["name"]) == ("Ready", 1, box)
    assert use["podUID"] != before
    assert world.mints == 2


def test_a_sandbox_that_dies_again_and_again_ends_the_run() -> None:
    world = PlanWorld()
    world.create_run("r")
    box = box_of(world, "r")
    life(world, lambda: None, lambda: world.start_pod("r-1"), lambda: world.ask_sandbox("r"))
    for _ in range(4):
        life(world, lambda: world.start_pod(box), lambda: world.end_pod(box, 137, "OOMKilled"))
    status = world.runs["r"]["status"]
    assert (status["phase"], status["failure"]["class"]) == ("Failed", "SandboxLost")
    assert "ran out of memory" in status["failure"]["message"]
    assert world.sandboxes == {}


def test_every_retry_has_its_own_epoch_until_they_are_used_up() -> None:
    world = PlanWorld()
    world.create_run("r", retries=2)
    world.settle()
    for epoch in (1, 2, 3):
        pod = f"r-{epoch}"
        world.start_pod(pod)
        world.settle()
        world.end_pod(pod, 143, conditions=[EVICTED])
        world.settle()
    status = world.runs["r"]["status"]
    assert (status["phase"], status["failure"]["class"], status["attempts"]) == ("Failed", "Evicted", 3)
    assert world.events.count("Retrying") == 2
    assert world.writes["CreatePod"] == 3


WEIGHTS = {
    "create": 8, "start": 16, "ask": 8, "tool": 2, "end": 6, "crash": 1, "evict": 2, "oom": 1, "take": 2, "finish": 6,
    "node": 1, "cancel": 1, "delete": 1, "profile": 2, "time": 6, "late": 1,
}  # fmt: skip


def chaos(world: PlanWorld, dice: random.Random) -> None:  # noqa: C901, PLR0912 - one case per thing that happens
    run = dice.choice(sorted(world.runs) or ["-"])
    pod = dice.choice(sorted(world.pods) or ["-"])
    match dice.choices([*WEIGHTS], [*WEIGHTS.values()])[0]:
        case "create" if len(world.runs) < 6:
            spec = {"threadId": dice.choice(["t", "u"])} if dice.random() < 0.7 else {}
            sandbox = {
                "acquire": dice.choice(["Lazy", "Eager"]),
                "classRef": {"name": dice.choice(["default", "gpu"])},
            }
            world.create_run(dice.choice("abcdef"), **spec, sandbox=sandbox) if dice.random() < 0.9 else None
        case "start":
            world.start_pod(pod)
        case "ask":
            world.ask_sandbox(run)
        case "tool":
            world.report(run, progress={"toolCalls": 1})
        case "end":
            if world.report(
                run,
                outcome={
                    "class": dice.choice(["Succeeded", "Succeeded", "AppError", "Interrupted", "Cancelled"])
                },
            ):
                world.end_pod(world.runs[run]["status"]["podName"])
        case "crash":
            world.end_pod(pod, 3)
        case "evict":
            world.end_pod(
                pod,
                143,
                conditions=[
                    {"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI"}
                ],
            )
        case "oom":
            world.end_pod(pod, 137, "OOMKilled")
        case "take":
            world.take_pod(pod)
        case "finish":
            world.finish_deletes()
        case "node":
            world.nodes[pod] = NodeState.GONE
        case "cancel" if run in world.runs:
            world.runs[run]["spec"]["cancel"] = True
            world.runs[run]["metadata"]["generation"] += 1
        case "delete":
            world.delete_run(run, collect=dice.random() < 0.5)
        case "profile":
            world.profiles = {} if world.profiles and dice.random() < 0.4 else PlanWorld().profiles
        case "time":
            world.pass_time(dice.choice([0, 1, 5, 29, 31]))
        case "late":
            world.pass_time(dice.choice([300, 700, 4000]))
        case _:
            pass


@pytest.mark.parametrize("seed", range(24))
def test_whatever_happens(seed: int) -> None:
    """The world itself asserts: ended runs stay ended, epochs never fall, one Pod per run, no forced deletes.

    `settle` asserts that every plan comes to rest; here it is made again, on the same world, and must be empty.
    In the end, with no more mishaps, every run ends and nothing is left behind.
    """
    dice = random.Random(seed)
    world = PlanWorld(idle=None if seed % 3 else 1e9)
    for _ in range(60):
        before = {name: raw["status"].get("phase") for name, raw in world.runs.items()}
        uids = {name: raw["metadata"]["uid"] for name, raw in world.runs.items()}
        chaos(world, dice)
        world.settle()
        written = world.writes.total()
        world.settle()
        assert world.writes.total() == written
        for name, raw in world.runs.items():
            if before.get(name) in TERMINAL and uids[name] == raw["metadata"]["uid"]:
                assert raw["status"]["phase"] == before[name]
    world.profiles = PlanWorld().profiles
    for _ in range(60):
        world.finish_deletes()
        for pod in list(world.pods):
            world.end_pod(pod, 1) if dice.random() < 0.3 else world.start_pod(pod)
        world.pass_time(1000)
        world.settle()
    assert {raw["status"]["phase"] for raw in world.runs.values()} <= TERMINAL
    assert world.sandboxes == {}
    assert world.pods == {}
