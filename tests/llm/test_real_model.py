"""Text, streaming and usage of a real model, through the whole pipeline in the cluster. What it says is its own affair."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from skerry_testing.llamaserver import MODEL, Exchange, real_model
from skerry_testing.stack import Stack
from skerry_testing.world import World

PROFILE = "real-model"


@pytest.fixture(scope="module")
def model(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[Exchange]]]:
    log: Path = tmp_path_factory.mktemp("llama") / "server.log"
    with real_model(stack.host_address, log) as served:
        yield served


@pytest.mark.parametrize("tools", [[], ["ls", "read_file"]], ids=["alone", "with-tools"])
async def test_a_real_model_answers(
    world: World, model: tuple[str, list[Exchange]], tools: list[str]
) -> None:
    url, exchanges = model
    before = len(exchanges)
    await world.create(
        "AgentProfile",
        PROFILE,
        {
            "model": {
                "name": f"openai:{MODEL}", "baseUrl": url,
                "parameters": {"streaming": "true", "temperature": "0", "max_tokens": "48"},
            },
            "systemPrompt": "You are a helpful assistant. Answer in one short sentence.",
            "tools": {"enabled": tools},
            "runner": {"network": {"allow": [f"{world.stack.host_address}/32"]}},
        },
    )  # fmt: skip
    name = await world.run(
        profileRef={"name": PROFILE},
        model={},
        prompt="What is the capital of France?",
        limits={"maxTurns": 4},
    )
    status = await world.phase(name, "Succeeded")

    # Such a small model may ramble until it is cut, or call a tool again and again: all of these are proper ends.
    assert status["stopReason"] in {"EndTurn", "LengthCapped", "TurnCapped"}
    runner, journal = status["runner"], world.journal(status["podName"])
    assert runner["answer"].strip()
    responses = [line for line in journal if line["type"] == "model.response"]
    assert len(responses) == runner["progress"]["modelCalls"] == len(exchanges) - before >= 1
    assert [line["type"] for line in journal if line["type"] in {"model.error", "llm.retry"}] == []
    for response, exchange in zip(responses, exchanges[before:], strict=True):
        assert exchange.request["stream"] is True
        assert [tool["function"]["name"] for tool in exchange.request.get("tools", ())] == tools
        *chunks, last = exchange.events
        assert last == "[DONE]"
        pieces = [json.loads(chunk) for chunk in chunks]
        said = [piece for piece in pieces if piece["choices"] and piece["choices"][0]["delta"].get("content")]
        assert "".join(piece["choices"][0]["delta"]["content"] for piece in said) == response["text"]
        assert len(said) > 1 or response["toolCalls"]
        (usage,) = [piece["usage"] for piece in pieces if piece.get("usage")]
        assert response["usage"]["input"] == usage["prompt_tokens"] > 10
        assert response["usage"]["output"] == usage["completion_tokens"] > 0
    for key in ("input", "output", "total"):
        assert runner["usage"][key] == sum(response["usage"][key] for response in responses)
