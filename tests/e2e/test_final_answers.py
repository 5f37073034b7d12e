"""What the last answer of a run does to its end: cut by length, empty, or nothing but work beyond the limit."""

from __future__ import annotations

from typing import Any

import httpx

from skerry_testing.serverpod import openai_stub
from skerry_testing.world import World

Json = dict[str, Any]
REPLIES: dict[str, list[Json]] = {
    "cut": [{"content": "Half of an ans", "finish_reason": "length"}],
    "silent": [{"content": "", "times": 2}],
    "slow-to-speak": [{"content": ""}, {"content": "Here it is."}],
}
ENDS: dict[str, tuple[str, str | None, str | None]] = {
    "cut": ("Succeeded", "LengthCapped", "Half of an ans"),
    "silent": ("Failed", None, None),
    "slow-to-speak": ("Succeeded", "EndTurn", "Here it is."),
}
"""By model: phase, stop reason, answer."""


def task(call_id: str) -> Json:
    args = {"prompt": "Dig.", "subagent_type": "general-purpose", "description": "dig"}
    return {"toolCalls": [{"name": "task", "args": args, "id": call_id}]}


async def test_a_cut_an_empty_and_a_capped_answer(world: World) -> None:
    await world.create(
        "AgentProfile",
        "handing-on",
        {
            "model": {"name": "scripted"},
            "subagents": {"enabled": True},
            "pipeline": {"subagentLimit": {"maxTotal": 1}},
        },
    )
    capped_run = await world.run(
        task("t1"),
        task("t2"),
        {"agent": "general-purpose", "say": "Found."},
        profileRef={"name": "handing-on"},
    )
    stub = await openai_stub(world, "final-answers", REPLIES)
    await world.secret("final-key", key="sk-e2e-final")
    await world.create(
        "AgentProfile",
        "speaking",
        {
            "model": {
                "name": "openai:cut", "baseUrl": f"{stub.service}/v1", "apiKeySecretRef": {"name": "final-key", "key": "key"},
                "parameters": {"streaming": "true"},
            },
            "allowedModels": [f"openai:{model}" for model in REPLIES],
            "runner": {"network": {"allow": [stub.cidr]}},
        },
    )  # fmt: skip
    runs = {
        model: await world.run(profileRef={"name": "speaking"}, model={"name": f"openai:{model}"})
        for model in REPLIES
    }

    ends = {model: await world.phase(name, "Succeeded", "Failed") for model, name in runs.items()}
    found = {
        model: (status["phase"], status.get("stopReason"), status["runner"].get("answer"))
        for model, status in ends.items()
    }
    assert found == ENDS
    silent = ends["silent"]
    assert (silent["failure"]["class"], silent["runner"]["outcome"]["reason"]) == ("AppError", "EmptyAnswer")
    (stalled,) = [each for each in silent["conditions"] if each["type"] == "Stalled"]
    assert (stalled["status"], stalled["reason"]) == ("True", "AppError")
    async with httpx.AsyncClient(trust_env=False) as client:
        seen = (await client.get(f"{stub.direct}/requests")).json()["requests"]
    # Asked again after silence, once; never after half an answer.
    assert {model: [each["model"] for each in seen].count(model) for model in REPLIES} == {
        "cut": 1, "silent": 2, "slow-to-speak": 2,
    }  # fmt: skip

    capped = await world.phase(capped_run, "Succeeded")
    assert capped["stopReason"] == "SubagentCapped"
    assert capped["runner"]["answer"].startswith("[SUBAGENT LIMIT REACHED]")
    assert capped["runner"]["progress"]["toolCalls"] == 1
    journal = world.journal(capped["podName"])
    (told,) = [event for event in journal if event["type"] == "subagent.capped"]
    assert (told["cut"], told["left"], told["stopped"]) == (1, 0, True)
    assert [event["type"] for event in journal].count("subagent.start") == 1
    assert "sandboxId" not in capped
