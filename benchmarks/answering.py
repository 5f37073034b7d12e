"""How soon after its answer was applied an agent goes on: in the Pod that waits, or in a new epoch's."""

from __future__ import annotations

import json
import statistics
import time
from datetime import datetime
from typing import Any

from skerry_testing.world import World, say

__all__ = ["answering"]

_PROFILE = "bench-asking"


async def answering(world: World, times: int) -> dict[str, float]:
    """Medians in seconds, from the patch of `spec.answers` until the agent has its answer."""
    volume = {"size": "64Mi", "retentionSeconds": 0}
    spec = {"model": {"name": "scripted"}, "persistence": {"type": "Volume", "volume": volume}}
    await world.create("AgentProfile", _PROFILE, spec)
    in_place = [await _one(world, "scripted") for _ in range(times)]
    again = [await _one(world, _PROFILE) for _ in range(times)]
    return {
        "the Pod waits (persistence Ephemeral)": statistics.median(in_place),
        "another epoch (persistence Volume)": statistics.median(again),
    }


async def _one(world: World, profile: str) -> float:
    ask = {"name": "ask_clarification", "id": "q", "args": {"question": "Which?"}}
    name = await world.run({"toolCalls": [ask]}, say("Done."), profileRef={"name": profile})
    asked = await world.phase(name, "AwaitingInput")
    if profile == _PROFILE:
        await world.api.wait_for(
            "Pod", f"{name}-1", lambda pod: pod["status"].get("phase") == "Succeeded", within=60
        )
    answers = [{"questionId": asked["runner"]["question"]["id"], "text": "this"}]
    patch = json.dumps({"spec": {"answers": answers}})
    begun = time.time()
    world.kubectl("patch", "agentrun", name, "--type=merge", f"--patch={patch}").check_returncode()
    status = await world.phase(name, "Succeeded")
    return _taken(world.journal(status["podName"])) - begun


def _taken(journal: list[dict[str, Any]]) -> float:
    """When the question's call had its result, in seconds of the clock that runner and benchmark share."""
    line = next(each for each in journal if each["type"] == "tool.result" and each["id"] == "q")
    return datetime.fromisoformat(line["time"]).timestamp()
