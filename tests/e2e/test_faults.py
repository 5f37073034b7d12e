"""Pods lost in the middle of a run."""

from __future__ import annotations

from skerry_testing.world import World, bash, say


async def test_runner_pod_lost_before_any_tool_is_a_new_epoch(world: World) -> None:
    name = await world.run(say("Late.", delaySeconds=10), threadId="lost-before")
    status = await world.phase(name, "Running")
    await world.api.delete("Pod", status["podName"], grace=0)
    after = await world.wait(name, lambda seen: seen.get("epoch") == 2)
    assert after["status"]["podName"] == f"{name}-2"
    done = await world.phase(name, "Succeeded")
    assert (done["epoch"], done["attempts"]) == (2, 2)
    assert done["podUID"] != status["podUID"]


async def test_runner_pod_lost_after_a_tool_ran_is_not_retried(world: World) -> None:
    name = await world.run(bash("echo once", "c1"), say("Never.", delaySeconds=60), threadId="lost-after")
    status = (
        await world.wait(name, lambda seen: seen.get("runner", {}).get("progress", {}).get("toolCalls") == 1)
    )["status"]
    await world.api.delete("Pod", status["podName"], grace=0)
    failed = await world.phase(name, "Failed")
    assert failed["failure"]["class"] == "PodLost"
    assert "tool" in failed["failure"]["message"]
    assert failed["epoch"] == 1
    (condition,) = [each for each in failed["conditions"] if each["type"] == "Stalled"]
    assert (condition["status"], condition["reason"]) == ("True", "PodLost")


async def test_sandbox_pod_lost_in_mid_run_is_replaced_under_the_same_id(world: World) -> None:
    name = await world.run(
        bash("echo kept > kept.txt", "c1"),
        bash("sleep 120", "c2"),
        bash("ls kept.txt || echo no-file; echo still-here", "c3", expect={"contains": ["replaced"]}),
        say("Went on.", "no-file", "still-here"),
        threadId="replaced",
    )
    before = (
        await world.wait(
            name, lambda seen: seen.get("runner", {}).get("progress", {}).get("toolCalls", 0) >= 2, 180
        )
    )["status"]
    await world.api.delete("Pod", before["sandbox"]["name"], grace=0)
    done = await world.phase(name, "Succeeded")
    assert done["sandbox"]["replacements"] == 1
    assert done["sandboxId"] == before["sandboxId"] == done["sandbox"]["name"]
    assert done["sandbox"]["podUID"] != before["sandbox"]["podUID"]
    assert done["epoch"] == 1
