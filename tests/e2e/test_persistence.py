"""State on a volume: a lost runner's run goes on where it stood, and its thread is there for the next run."""

from __future__ import annotations

import json
import re

from skerry_api.names import sandbox_id, state_volume_name
from skerry_testing.eventually import eventually_true
from skerry_testing.world import World, bash, say

APPEND = "echo once >> count.txt"
FACT = {"content": "Likes to count.", "category": "preference", "confidence": 0.9}


async def test_a_run_goes_on_from_its_volume_and_the_next_run_knows_the_thread(world: World) -> None:
    volume = {"size": "64Mi", "retentionSeconds": 86400}
    await world.create(
        "AgentProfile",
        "kept",
        {
            "model": {"name": "scripted"},
            "persistence": {"type": "Volume", "volume": volume},
            "pipeline": {"memory": {"enabled": True}},
        },
    )
    first = await world.run(
        bash(APPEND, "c1"),
        # While the model thinks about this one, the runner is killed.
        bash("wc -l < count.txt", "c2", delaySeconds=6),
        say("Counted.", r"bash .success.: 1"),
        {"purpose": "memory", "say": json.dumps({"add": [FACT]})},
        profileRef={"name": "kept"},
        threadId="kept",
    )  # fmt: skip
    pod = (await world.phase(first, "Running"))["podName"]

    async def ran() -> bool:
        return any(event["type"] == "tool.result" for event in world.journal(pod))

    await eventually_true(ran, within=120)
    await world.api.delete("Pod", pod, grace=0)
    done = await world.phase(first, "Succeeded", within=180)
    assert (done["epoch"], done["attempts"]) == (2, 2)
    assert done["runner"]["progress"]["turn"] == 3
    calls = [event for event in world.journal(f"{first}-2") if event["type"] == "tool.call"]
    assert [call["id"] for call in calls] == ["c2"]
    (learned,) = [event for event in world.journal(f"{first}-2") if event["type"] == "memory.updated"]
    assert (learned["status"], learned["added"]) == ("updated", 1)

    second = await world.run(
        say("Still there.", "Counted", "echo once", r"<memory>\n- Likes to count\."),
        profileRef={"name": "kept"},
        threadId="kept",
    )
    later = await world.phase(second, "Succeeded")

    name = state_volume_name(sandbox_id(world.api.namespace, "default", "kept"))
    world.made.append(("PersistentVolumeClaim", name))
    claim = await world.api.get("PersistentVolumeClaim", name)
    assert claim["status"]["phase"] == "Bound"
    assert claim["spec"]["storageClassName"] == "local"
    assert "ownerReferences" not in claim["metadata"]
    # By name: other tests' Pods stand beside these, and some have no volumes.
    mounts = {
        pod: [
            volume["persistentVolumeClaim"]["claimName"]
            for volume in (await world.api.get("Pod", pod))["spec"]["volumes"]
            if "persistentVolumeClaim" in volume
        ]
        for pod in (later["podName"], done["sandboxId"])
    }
    assert mounts[later["podName"]] == [claim["metadata"]["name"]]
    assert mounts[done["sandboxId"]] == []


async def test_a_storage_class_that_is_none_is_the_runs_reason(world: World) -> None:
    volume = {"storageClassName": "no-such-class"}
    await world.create(
        "AgentProfile",
        "lost",
        {"model": {"name": "scripted"}, "persistence": {"type": "Volume", "volume": volume}},
    )
    name = await world.run(
        say("Never."), profileRef={"name": "lost"}, limits={"startupDeadlineSeconds": 5}
    )  # fmt: skip
    failed = await world.phase(name, "Failed")
    assert failed["failure"]["class"] == "Unschedulable"
    assert re.search("persistentvolumeclaim|storageclass", failed["failure"]["message"], re.IGNORECASE)
