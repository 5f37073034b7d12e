"""Runs of one thread: one at a time, in one sandbox."""

from __future__ import annotations

from typing import Any

from skerry_testing.world import World, bash, say


async def test_two_runs_of_a_thread_share_a_sandbox_one_after_the_other(world: World) -> None:
    first = await world.run(
        bash("echo from-the-first > note.txt", "c1"), say("Written.", delaySeconds=6), threadId="shared"
    )
    await world.phase(first, "Running")
    second = await world.run(bash("cat note.txt", "c1"), say("Read.", "from-the-first"), threadId="shared")
    queued = await world.phase(second, "Queued")
    assert queued["queue"]["reason"] == "ThreadBusy"
    assert queued["queue"]["position"] >= 1  # Other tests' runs may stand before it.
    assert "podName" not in queued

    one = await world.phase(first, "Succeeded")
    two = await world.phase(second, "Succeeded")
    assert two["sandboxId"] == one["sandboxId"]
    assert two["sandbox"]["podUID"] == one["sandbox"]["podUID"]
    assert two["startTime"] >= one["completionTime"]


async def test_another_class_waits_until_the_parked_sandbox_ends(world: World) -> None:
    await world.create("SandboxClass", "brief", {"release": "Park", "idleSeconds": 5})
    await world.create("SandboxClass", "other", {"release": "Destroy"})
    profile = {"model": {"name": "scripted"}, "allowedClasses": ["brief", "other"]}
    await world.create("AgentProfile", "two-classes", profile)
    common: dict[str, Any] = {"profileRef": {"name": "two-classes"}, "threadId": "conflict"}
    first = await world.run(
        bash("echo 1", "c1"), say("1", "1"), **common, sandbox={"classRef": {"name": "brief"}}
    )
    one = await world.phase(first, "Succeeded")
    second = await world.run(
        bash("echo 2", "c1"), say("2", "2"), **common, sandbox={"classRef": {"name": "other"}}
    )
    queued = await world.phase(second, "Queued")
    assert queued["queue"]["reason"] == "SandboxClassConflict"
    # The first class keeps its sandbox five idle seconds; then the second run gets its own.
    two = await world.phase(second, "Succeeded")
    assert two["sandboxId"] == one["sandboxId"]
    assert two["sandbox"]["podUID"] != one["sandbox"]["podUID"]
    await world.sandbox_gone(two["sandboxId"])


async def test_a_parked_sandbox_goes_after_its_idle_time(world: World) -> None:
    await world.create("SandboxClass", "shortly", {"release": "Park", "idleSeconds": 3})
    await world.create(
        "AgentProfile",
        "shortly",
        {"model": {"name": "scripted"}, "sandbox": {"classRef": {"name": "shortly"}}},
    )
    name = await world.run(
        bash("echo 1", "c1"), say("1", "1"), profileRef={"name": "shortly"}, threadId="idle"
    )
    status = await world.phase(name, "Succeeded")
    await world.sandbox_gone(status["sandboxId"])
