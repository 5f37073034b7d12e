"""Cancel while a run waits: for a busy model, for a subagent, for a person. The runner ends itself, at once."""

from __future__ import annotations

import asyncio
from typing import Any

from skerry_testing.eventually import eventually_true
from skerry_testing.serverpod import openai_stub
from skerry_testing.world import PATIENCE, World, say

Json = dict[str, Any]
RETRY_AFTER = 2 * PATIENCE
"""Seconds; a run that waited for them would be too late for the test."""
ASK: Json = {"name": "ask_clarification", "args": {"question": "Which?"}, "id": "q"}
TASK: Json = {"name": "task", "args": {"prompt": "Dig.", "subagent_type": "general-purpose"}, "id": "t"}


async def test_cancelled_while_it_waits_for_somebody_else(world: World) -> None:
    await world.create(
        "AgentProfile", "waits", {"model": {"name": "scripted"}, "subagents": {"enabled": True}}
    )
    scripted: Json = {"profileRef": {"name": "waits"}}
    late = {"agent": "general-purpose", **say("Late.", delaySeconds=RETRY_AFTER)}
    runs = {
        "question": await world.run({"toolCalls": [ASK]}, say("Never."), **scripted),
        "subagent": await world.run({"toolCalls": [TASK]}, late, say("Never."), **scripted),
    }
    busy = {"status": 429, "error": "slow down", "retry_after": RETRY_AFTER, "times": 9}
    stub = await openai_stub(world, "busy-endpoint", {"busy": [busy]})
    await world.secret("busy-key", key="sk-e2e-busy")
    await world.create(
        "AgentProfile",
        "busy",
        {
            "model": {
                "name": "openai:busy", "baseUrl": f"{stub.service}/v1", "apiKeySecretRef": {"name": "busy-key", "key": "key"},
            },
            "runner": {"network": {"allow": [stub.cidr]}},
        },
    )  # fmt: skip
    runs["retry"] = await world.run(profileRef={"name": "busy"}, model={"name": "openai:busy"})
    await world.phase(runs["question"], "AwaitingInput")
    await _happened(world, runs["subagent"], "subagent.start")
    await _happened(world, runs["retry"], "llm.retry")

    for name in runs.values():
        await world.api.patch("AgentRun", name, {"spec": {"cancel": True}})
    ends = dict(
        zip(
            runs,
            await asyncio.gather(*(world.phase(name, "Cancelled") for name in runs.values())),
            strict=True,
        )
    )
    # In its own words: whoever is killed after the grace that it has would say Interrupted, or nothing.
    assert {what: status["runner"]["outcome"]["class"] for what, status in ends.items()} == dict.fromkeys(
        runs, "Cancelled"
    )
    journals = {what: world.journal(status["podName"]) for what, status in ends.items()}
    assert {what: [line["type"] for line in lines].count("run.end") for what, lines in journals.items()} == (
        dict.fromkeys(runs, 1)
    )
    (retry,) = [line for line in journals["retry"] if line["type"] == "llm.retry"]
    assert (retry["reason"], retry["waitMs"]) == ("RateLimited", RETRY_AFTER * 1000)
    (child,) = [line for line in journals["subagent"] if line["type"] == "subagent.end"]
    assert child["status"] == "cancelled"
    assert "question" not in ends["question"]["runner"]


async def _happened(world: World, name: str, event: str) -> None:
    """Return once the run's journal has such a line."""
    pod = (await world.phase(name, "Running"))["podName"]

    async def told() -> bool:
        return any(line["type"] == event for line in world.journal(pod))

    await eventually_true(told, within=PATIENCE, every=0.5)
