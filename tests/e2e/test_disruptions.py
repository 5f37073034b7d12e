"""Operator and API server lost in the middle of runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from skerry_testing.world import World, bash, say

pytestmark = pytest.mark.alone

NODE_LABEL = "skerry.dev/e2e"
KEY = {"name": "late-key", "key": "token"}
MOMENTS: dict[str, Callable[[dict[str, Any]], bool]] = {
    "Provisioning": lambda seen: seen.get("phase") == "Provisioning",
    "Queued": lambda seen: seen.get("phase") == "Queued",
    "SandboxPending": lambda seen: "sandboxRequest" in seen.get("runner", {}),
    "SandboxReady": lambda seen: seen.get("sandbox", {}).get("state") == "Ready",
    "Running": lambda seen: seen.get("phase") == "Running",
}


async def test_operator_killed_in_every_phase_of_a_run(world: World) -> None:
    """One run is held at each moment, the operator killed, the runs let go: each ends as if nothing had been."""
    await world.create("SandboxClass", "late-node", {"template": {"nodeSelector": {NODE_LABEL: "late"}}})
    allowed = {"allowedClasses": ["late-node", "default"], "model": {"name": "scripted"}}
    await world.create("AgentProfile", "on-late-node", allowed)
    await world.create(
        "AgentProfile", "with-late-key", {"model": {"name": "scripted", "apiKeySecretRef": KEY}}
    )
    runs = {}
    for moment, spec in (
        ("Provisioning", {"profileRef": {"name": "with-late-key"}, "threadId": "killed"}),
        ("Queued", {"threadId": "killed"}),
        (
            "SandboxPending",
            {"profileRef": {"name": "on-late-node"}, "sandbox": {"classRef": {"name": "late-node"}}},
        ),
        ("SandboxReady", {"threadId": "killed-ready"}),
        ("Running", {}),
    ):
        runs[moment] = await world.run(_once(moment), say("Done.", f"{moment}-1\\b"), **spec)
        await world.wait(runs[moment], MOMENTS[moment])
    await world.kill_operator()

    world.kubectl("label", "node", "--all", f"{NODE_LABEL}=late").check_returncode()
    ready = await world.api.get("AgentRun", runs["SandboxReady"])
    world.in_pod(ready["status"]["sandbox"]["name"], "touch", "/mnt/user-data/workspace/go")
    await world.secret(KEY["name"], token="t")
    try:
        ended = await asyncio.gather(*(world.phase(name, "Succeeded", within=240) for name in runs.values()))
    finally:
        world.kubectl("label", "node", "--all", f"{NODE_LABEL}-")
    assert {(status["epoch"], status["attempts"]) for status in ended} == {(1, 1)}
    assert {status["sandbox"]["replacements"] for status in ended} == {0}
    assert len({status["sandboxId"] for status in ended}) == len(runs) - 1, "two runs share a thread"
    for status in ended:
        # That of a run without a named thread may be gone by now.
        sandbox = await world.api.find("Sandbox", status["sandboxId"])
        assert sandbox is None or sandbox["status"]["podUID"] == status["sandbox"]["podUID"]
    pods = await world.api.list("Pod", labels=f"skerry.dev/run in ({','.join(runs.values())})")
    assert sorted(pod["metadata"]["name"] for pod in pods) == sorted(f"{name}-1" for name in runs.values())


def _once(moment: str) -> dict[str, Any]:
    """A step whose output tells how often its command has run."""
    command = f"echo once >> {moment}.txt; echo {moment}-$(wc -l < {moment}.txt)"
    if moment == "SandboxReady":
        command = f"until [ -e go ]; do sleep 0.2; done; {command}"
    return bash(command, "c1", delaySeconds=12 if moment == "Running" else 0)


async def test_api_server_restarted_in_mid_run(world: World) -> None:
    name = await world.run(
        bash("echo before", "c1"),
        bash("sleep 8; echo after", "c2"),
        say("Done.", "before", "after"),
        threadId="restart",
    )
    await world.wait(name, lambda seen: seen.get("sandbox", {}).get("state") == "Ready")
    world.stack.restart("kube-apiserver")
    status = await world.phase(name, "Succeeded", within=240)
    assert (status["epoch"], status["sandbox"]["replacements"]) == (1, 0)
