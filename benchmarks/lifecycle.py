"""From apply to Succeeded: when each stage is reached, and how many writes of the operator it takes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from benchmarks.scrape import writes
from skerry_testing.world import TERMINAL, World, bash, say

__all__ = ["lifecycle", "writes_per_run"]

FIRST_CALL = "first model call"
ORDER = ("Provisioning", "Running", FIRST_CALL, "sandbox asked for", "sandbox ready", "Succeeded")
STAGES: dict[str, Callable[[dict[str, Any]], bool]] = {
    "Provisioning": lambda status: bool(status.get("podName")),
    "Running": lambda status: status.get("phase") in {"Running", *TERMINAL},
    "sandbox asked for": lambda status: "sandboxRequest" in status.get("runner", {}),
    "sandbox ready": lambda status: status.get("sandbox", {}).get("state") in {"Ready", "Released"},
    "Succeeded": lambda status: status.get("phase") == "Succeeded",
}


async def _one(world: World, number: int) -> dict[str, float]:
    """Seconds since apply at which each stage was seen on a watch."""
    name, begun, clock = f"bench-{number}", time.monotonic(), time.time()
    version = ""
    seen: dict[str, float] = {}
    await world.run(bash("echo $((6*7))", "c1"), say("Done.", "42"), name=name, threadId=name)
    async with world.api.watch("AgentRun", version=version, fields=f"metadata.name={name}") as events:
        async for event in events:
            status = event["object"].get("status", {})
            for stage, reached in STAGES.items():
                if stage not in seen and reached(status):
                    seen[stage] = time.monotonic() - begun
            if status.get("phase") in TERMINAL:
                break
    pod = (await world.api.get("AgentRun", name))["status"]["podName"]
    call = next(line for line in world.journal(pod) if line["type"] == "model.request")
    # By the machine's clock, which runner and benchmark share.
    seen[FIRST_CALL] = datetime.fromisoformat(call["time"]).timestamp() - clock
    assert set(seen) == set(ORDER), seen
    return seen


async def lifecycle(world: World, runs: int) -> dict[str, float]:
    """Medians over `runs` runs, each alone, in seconds."""
    taken = [await _one(world, number) for number in range(runs)]
    return {stage: statistics.median(each[stage] for each in taken) for stage in ORDER}


async def writes_per_run(world: World, *, sandbox: bool) -> dict[str, int]:
    """What one run cost, from its apply until its sandbox was parked."""
    before = await writes(world.stack)
    steps = [bash("echo 1", "c1"), say("Done.", "1")] if sandbox else [say("Done.")]
    name = await world.run(*steps, threadId=f"writes-{sandbox}".lower())
    status = await world.phase(name, "Succeeded")
    if sandbox:
        await world.api.wait_for(
            "Sandbox", status["sandboxId"], lambda seen: seen["status"].get("phase") == "Parked"
        )
    after = await writes(world.stack)
    return {
        key: count - before.get(key, 0) for key, count in sorted(after.items()) if count != before.get(key, 0)
    }
