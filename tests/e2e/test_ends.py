"""Cancel and delete, in each phase: nothing stays but what Park keeps until its limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skerry_testing.world import PATIENCE, World, bash, say

Status = dict[str, Any]
MOMENTS: dict[str, Callable[[Status], bool]] = {
    "Queued": lambda status: status.get("phase") == "Queued",
    "Provisioning": lambda status: status.get("phase") in {"Provisioning", "Running"},
    "Running": lambda status: status.get("phase") == "Running",
    "SandboxPending": lambda status: "sandboxRequest" in status.get("runner", {}),
    "SandboxReady": lambda status: status.get("sandbox", {}).get("state") == "Ready",
}


async def _run_at(world: World, moment: str, thread: str) -> tuple[str, str | None]:
    """A run that has come to the moment and stays there a while, and the run that blocks its thread."""
    blocker = None
    if moment == "Queued":
        blocker = await world.run(say("First.", delaySeconds=20), threadId=thread)
        await world.phase(blocker, "Running")
    wait_first = 20 if moment == "Running" else 0
    name = await world.run(bash("sleep 60", "c1", delaySeconds=wait_first), say("Never."), threadId=thread)
    await world.wait(name, MOMENTS[moment])
    return name, blocker


@pytest.mark.parametrize("moment", MOMENTS)
async def test_cancelled(world: World, moment: str) -> None:
    name, blocker = await _run_at(world, moment, f"cancel-{moment.lower()}")
    await world.api.patch("AgentRun", name, {"spec": {"cancel": True}})
    status = await world.phase(name, "Cancelled")
    assert status["cancelled"] is True
    assert {each["type"]: each["status"] for each in status["conditions"]}["Succeeded"] == "False"
    # Latched: Git may take it back without harm.
    await world.api.patch("AgentRun", name, {"spec": {"cancel": False}})
    if blocker:
        await world.phase(blocker, "Succeeded")
    assert (await world.api.get("AgentRun", name))["status"]["phase"] == "Cancelled"


@pytest.mark.parametrize("moment", MOMENTS)
async def test_deleted(world: World, moment: str) -> None:
    name, blocker = await _run_at(world, moment, f"delete-{moment.lower()}")
    status = (await world.api.get("AgentRun", name))["status"]
    await world.api.delete("AgentRun", name)
    await world.api.wait_gone("AgentRun", name, within=PATIENCE)
    await world.api.wait_gone("Pod", f"{name}-1", within=PATIENCE)
    if blocker:
        await world.phase(blocker, "Succeeded")
    if moment == "SandboxReady":
        kept = await world.api.wait_for(
            "Sandbox",
            status["sandbox"]["name"],
            lambda seen: seen["status"].get("phase") == "Parked",
            within=PATIENCE,
        )
        assert "holder" not in kept["status"]
        await world.api.delete("Sandbox", kept["metadata"]["name"])
        await world.sandbox_gone(kept["metadata"]["name"])


async def test_a_finished_run_goes_after_its_ttl(world: World) -> None:
    name = await world.run(say("Done."), ttlSecondsAfterFinished=1)
    await world.api.wait_gone("AgentRun", name, within=PATIENCE)
    await world.api.wait_gone("Pod", f"{name}-1", within=PATIENCE)


async def test_too_many_turns_end_well(world: World) -> None:
    name = await world.run(
        bash("echo 1", "c1"),
        bash("echo 2", "c2"),
        bash("echo 3", "c3"),
        say("Never."),
        limits={"maxTurns": 2},
    )
    status = await world.phase(name, "Succeeded")
    assert status["stopReason"] == "TurnCapped"
    assert status["runner"]["progress"]["modelCalls"] == 2


async def test_active_deadline(world: World) -> None:
    name = await world.run(say("Never.", delaySeconds=120), limits={"activeDeadlineSeconds": 3})
    status = await world.phase(name, "TimedOut")
    assert status["failure"]["class"] == "Timeout"
