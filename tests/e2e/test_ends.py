"""Cancel and delete, in each phase: nothing stays but what Park keeps until its limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from skerry_api.names import sandbox_id
from skerry_testing.eventually import eventually_true
from skerry_testing.world import PATIENCE, World, bash, say

Status = dict[str, Any]
MOMENTS: dict[str, Callable[[Status], bool]] = {
    "Queued": lambda status: status.get("phase") == "Queued",
    "Provisioning": lambda status: status.get("phase") in {"Provisioning", "Running"},
    "Running": lambda status: status.get("phase") == "Running",
    "SandboxPending": lambda status: "sandboxRequest" in status.get("runner", {}),
    "SandboxReady": lambda status: status.get("sandbox", {}).get("state") == "Ready",
}
DELETED = MOMENTS | {
    "Pending": lambda status: status.get("phase") == "Pending",
    "Succeeded": lambda status: status.get("phase") == "Succeeded",
}
KEPT = frozenset({"SandboxReady", "Succeeded"})
"""Moments at which somebody has used the sandbox, so that it is parked."""


async def _run_at(world: World, moment: str, thread: str) -> tuple[str, str | None]:
    """A run that has come to the moment and stays there a while, and the run that blocks its thread."""
    blocker = None
    if moment == "Queued":
        blocker = await world.run(say("First.", delaySeconds=20), threadId=thread)
        await world.phase(blocker, "Running")
    steps = [bash("sleep 60", "c1", delaySeconds=20 if moment == "Running" else 0), say("Never.")]
    if moment == "Succeeded":
        steps = [bash("true", "c1"), say("Done.")]
    spec: dict[str, Any] = {"threadId": thread}
    if moment == "Pending":  # for want of a file of its own
        missing = {"configMapKeyRef": {"name": "never-there", "key": "k"}}
        spec["files"] = [{"name": "k", **missing}]
    name = await world.run(*steps, **spec)
    await world.wait(name, DELETED[moment])
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


@pytest.mark.parametrize("moment", DELETED)
async def test_deleted(world: World, moment: str) -> None:
    thread = f"delete-{moment.lower()}"
    # By its thread: a run that is gone can't name it any more.
    box = sandbox_id(world.api.namespace, "default", thread)
    world.made.append(("Sandbox", box))
    name, blocker = await _run_at(world, moment, thread)
    await world.api.delete("AgentRun", name)
    await world.api.wait_gone("AgentRun", name, within=PATIENCE)
    await world.api.wait_gone("Pod", f"{name}-1", within=PATIENCE)
    if blocker:
        await world.phase(blocker, "Succeeded")
    kept = await _settled(world, box)
    # One that nobody had used yet may be parked or not be; one in use is.
    assert moment == "SandboxPending" or bool(kept) == (moment in KEPT)
    if kept:
        assert "holder" not in kept["status"]
        await world.api.delete("Sandbox", box)
    await world.sandbox_gone(box)


async def _settled(world: World, name: str) -> dict[str, Any] | None:
    """The Sandbox once it is parked; None once neither it nor its Pod is there."""
    found: list[dict[str, Any] | None] = []

    async def rests() -> bool:
        sandbox, pod = await world.api.find("Sandbox", name), await world.api.find("Pod", name)
        found.append(sandbox)
        return pod is None if sandbox is None else sandbox.get("status", {}).get("phase") == "Parked"

    await eventually_true(rests, within=PATIENCE)
    return found[-1]


async def test_a_finished_run_goes_after_its_ttl(world: World) -> None:
    name = await world.run(say("Done."), ttlSecondsAfterFinished=1)
    await world.api.wait_gone("AgentRun", name, within=PATIENCE)
    await world.api.wait_gone("Pod", f"{name}-1", within=PATIENCE)


def plan(call_id: str, **step: Any) -> dict[str, Any]:
    """A step that needs no sandbox and leaves something to do."""
    todos = [{"content": "write it", "status": "pending"}]
    call = {"name": "write_todos", "args": {"todos": todos}, "id": call_id}
    return {"say": "On it.", "toolCalls": [call], "usage": {"input": 60, "output": 40}, **step}


CAPS: dict[str, tuple[list[dict[str, Any]], dict[str, Any], dict[str, Any]]] = {
    "turns": ([plan("c1"), plan("c2")], {"maxTurns": 1}, {"stopReason": "TurnCapped"}),
    "tokens": ([plan("c1"), plan("c2"), plan("c3")], {"maxTokens": 150}, {"stopReason": "TokenCapped"}),
    "money": ([plan("c1"), plan("c2")], {"maxCostMicroUSD": 50}, {"failure": "BudgetExceeded"}),
    "loop": ([plan(f"c{n}") for n in range(5)], {}, {"stopReason": "LoopCapped"}),
    "safety": ([plan("c1"), plan("c2", finishReason="content_filter")], {}, {"stopReason": "SafetyCapped"}),
}
"""Steps, limits and end of runs whose list of todos is not done: no reminder of it brings them back."""


async def test_caps_end_runs_whatever_is_left_to_do(world: World) -> None:
    price = {"inputMicroUSDPerMillion": 500_000, "outputMicroUSDPerMillion": 1_000_000}
    await world.create(
        "AgentProfile",
        "capped",
        {"model": {"name": "scripted", "price": price}, "pipeline": {"todoList": {"enabled": True}}},
    )
    names = {
        cap: await world.run(*steps, profileRef={"name": "capped"}, limits=limits, prompt=f"Run into {cap}.")
        for cap, (steps, limits, _) in CAPS.items()
    }
    for cap, (steps, _, end) in CAPS.items():
        failure = end.get("failure")
        status = await world.phase(names[cap], "Failed" if failure else "Succeeded")
        assert status.get("stopReason") == end.get("stopReason"), cap
        assert status.get("failure", {}).get("class") == failure, cap
        report = status["runner"]
        calls = len(steps) - 1 if cap in {"turns", "tokens", "money"} else len(steps)
        assert report["progress"]["modelCalls"] == calls, cap
        assert report["usage"]["total"] == 100 * calls, cap
        # 60 tokens at half a millionth of a dollar, 40 at a whole one.
        assert report["usage"]["costMicroUSD"] == 70 * calls, cap
        assert report["progress"]["title"] == f"Run into {cap}."
        assert [todo["status"] for todo in report["progress"]["todos"]] == ["Pending"]


async def test_active_deadline(world: World) -> None:
    name = await world.run(say("Never.", delaySeconds=120), limits={"activeDeadlineSeconds": 3})
    status = await world.phase(name, "TimedOut")
    assert status["failure"]["class"] == "Timeout"
