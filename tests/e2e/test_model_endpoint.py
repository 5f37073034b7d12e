"""The real OpenAI client, streaming, against a model endpoint in the cluster that fails in every way."""

from __future__ import annotations

from typing import Any

import httpx

from skerry_testing.serverpod import openai_stub
from skerry_testing.world import World

KEY = "sk-e2e-0123456789"
WRITE = {"name": "write_file", "arguments": {"path": "/mnt/user-data/outputs/a", "content": "half a text"}}
REPLIES: dict[str, list[dict[str, Any]]] = {
    "rough": [
        {"status": 429, "error": "slow down", "retry_after": 1},
        {"status": 500},
        {"content": "Let me look.", "tool_calls": [{"name": "bash", "arguments": {"command": "echo rough-$((1+1))"}}]},
        {"content": "I was going to say", "reset_after": 3},
        {"content": "All is well again.", "chunk_delay_seconds": 0.2},
    ],
    "filtered": [
        {"content": "I will write it.", "tool_calls": [WRITE], "cut_arguments_at": 60, "finish_reason": "content_filter"},
    ],
    "down": [{"status": 503, "error": f"down for maintenance, {KEY}", "times": 100}],
}  # fmt: skip


async def test_a_rough_endpoint_a_filter_and_one_that_stays_down(world: World) -> None:
    stub = await openai_stub(world, "model-endpoint", REPLIES)
    url = f"{stub.service}/v1"
    await world.secret("model-key", key=KEY)
    await world.create(
        "AgentProfile",
        "rough",
        {
            "model": {
                "name": "openai:rough", "baseUrl": url, "apiKeySecretRef": {"name": "model-key", "key": "key"},
                "parameters": {"streaming": "true"},
            },
            "allowedModels": ["openai:filtered", "openai:down"],
            "runner": {"network": {"allow": [stub.cidr]}},
            "pipeline": {"llmErrorHandling": {"baseDelayMilliseconds": 200, "circuit": {"failures": 1}}},
        },
    )  # fmt: skip
    runs = {
        model: await world.run(
            profileRef={"name": "rough"}, model={"name": f"openai:{model}"}, prompt="Look."
        )
        for model in REPLIES
    }
    ends = {model: await world.phase(name, "Succeeded", "Failed") for model, name in runs.items()}
    journals = {model: world.journal(status["podName"]) for model, status in ends.items()}

    rough = ends["rough"]
    assert (rough["phase"], rough["stopReason"]) == ("Succeeded", "EndTurn")
    assert rough["runner"]["answer"] == "All is well again."
    progress = dict(rough["runner"]["progress"])
    assert progress.pop("title")
    assert progress == {"turn": 2, "modelCalls": 5, "toolCalls": 1}
    usage = rough["runner"]["usage"]
    assert usage["total"] == usage["input"] + usage["output"] > 50
    retries = [line for line in journals["rough"] if line["type"] == "llm.retry"]
    assert [line["reason"] for line in retries] == ["RateLimited", "ServerError", "ConnectionFailed"]
    assert retries[0]["waitMs"] == 1000
    (result,) = [line for line in journals["rough"] if line["type"] == "tool.result"]
    assert "rough-2" in str(result)

    filtered = ends["filtered"]
    assert (filtered["phase"], filtered["stopReason"]) == ("Succeeded", "SafetyCapped")
    assert filtered["runner"]["answer"].startswith("I will write it.\n\n")
    (stopped,) = [line for line in journals["filtered"] if line["type"] == "safety_termination"]
    assert stopped["suppressed"] == ["write_file"]
    assert "sandboxId" not in filtered

    down = ends["down"]
    assert (down["phase"], down["failure"]["class"]) == ("Failed", "ModelError")
    outcome = down["runner"]["outcome"]
    assert (outcome["class"], outcome["reason"], outcome["endpoint"]) == ("ModelError", "Overloaded", url)
    (opened,) = [line for line in journals["down"] if line["type"] == "llm.circuit"]
    assert (opened["state"], opened["failures"], opened["endpoint"]) == ("open", 1, url)
    assert [line["type"] for line in journals["down"]].count("run.end") == 1

    async with httpx.AsyncClient(trust_env=False) as client:
        seen = (await client.get(f"{stub.direct}/requests")).json()
    assert all(request["stream"] for request in seen["requests"])
    assert {model: [each["model"] for each in seen["requests"]].count(model) for model in REPLIES} == {
        "rough": 5, "filtered": 1, "down": 3,
    }  # fmt: skip
    assert set(seen["keys"]) == {KEY}
    # The key is the endpoint's alone, even when that repeats it.
    assert KEY not in str(ends) + str(journals)
