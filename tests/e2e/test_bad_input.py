"""What a person gets wrong, and what the object then says."""

from __future__ import annotations

from typing import Any

from skerry_testing.world import World, say


def _condition(status: dict[str, Any], kind: str) -> dict[str, Any]:
    matching: list[dict[str, Any]] = [each for each in status.get("conditions", []) if each["type"] == kind]
    return matching[0] if matching else {}


async def _waits_for(world: World, name: str, reason: str) -> dict[str, Any]:
    run = await world.wait(name, lambda status: _condition(status, "Ready").get("reason") == reason)
    return run["status"]  # type: ignore[no-any-return]


async def test_a_missing_profile_is_waited_for(world: World) -> None:
    name = await world.run(say("Here."), profileRef={"name": "comes-later"})
    status = await _waits_for(world, name, "ProfileNotFound")
    assert "comes-later" in _condition(status, "Ready")["message"]
    await world.create("AgentProfile", "comes-later", {"model": {"name": "scripted"}})
    await world.phase(name, "Succeeded")


async def test_a_missing_secret_is_waited_for(world: World) -> None:
    secret = {"name": "key-later", "key": "token"}
    await world.create("AgentProfile", "with-key", {"model": {"name": "scripted", "apiKeySecretRef": secret}})
    name = await world.run(say("Here."), profileRef={"name": "with-key"})
    status = await _waits_for(world, name, "SecretNotFound")
    assert "key-later" in _condition(status, "Ready")["message"]
    await world.secret("key-later", token="t")
    await world.phase(name, "Succeeded")


async def test_an_image_that_is_not_there(world: World) -> None:
    runner = {"image": "localhost:5000/no-such-image:1"}
    await world.create("AgentProfile", "no-image", {"model": {"name": "scripted"}, "runner": runner})
    name = await world.run(
        say("Never."), profileRef={"name": "no-image"}, limits={"startupDeadlineSeconds": 8}
    )
    status = await world.phase(name, "Failed")
    assert status["failure"]["class"] == "ImagePull"
    assert "no-such-image" in status["failure"]["message"]


async def test_a_pod_that_fits_nowhere(world: World) -> None:
    runner = {"resources": {"requests": {"cpu": "500"}, "limits": {"cpu": "500"}}}
    await world.create("AgentProfile", "huge", {"model": {"name": "scripted"}, "runner": runner})
    name = await world.run(say("Never."), profileRef={"name": "huge"}, limits={"startupDeadlineSeconds": 6})
    status = await world.phase(name, "Failed")
    assert status["failure"]["class"] == "Unschedulable"
    assert "cpu" in status["failure"]["message"]


async def test_a_model_that_the_profile_does_not_allow(world: World) -> None:
    name = await world.run(model={"name": "openai:gpt-5"})
    status = await world.phase(name, "Failed")
    assert status["failure"]["class"] == "InvalidSpec"
    assert "spec.model.name" in status["failure"]["message"]
    assert "podName" not in status


async def test_an_unusable_script(world: World) -> None:
    name = await world.run(model={"script": "steps:\n- say: fine\n- sya: typo\n"})
    status = await world.phase(name, "Failed")
    assert status["failure"]["class"] == "InvalidSpec"
    for part in ("spec.model.script", "line 3", "sya"):
        assert part in status["failure"]["message"]


async def test_a_script_that_does_not_fit_the_run(world: World) -> None:
    name = await world.run(say("Never.", "something that nobody said"))
    status = await world.phase(name, "Failed")
    assert status["failure"]["class"] == "AppError"
    assert status["runner"]["outcome"]["reason"] == "ScriptMismatch"


async def test_a_namespace_that_is_not_prepared(world: World) -> None:
    body = {
        "apiVersion": "skerry.dev/v1alpha1", "kind": "AgentRun", "metadata": {"name": "nowhere", "namespace": "default"},
        "spec": {"profileRef": {"name": "scripted"}, "prompt": "x"},
    }  # fmt: skip
    async with type(world.api)(world.stack.access, "default") as elsewhere:
        await elsewhere.create(body)
        try:
            run = await elsewhere.wait_for(
                "AgentRun",
                "nowhere",
                lambda seen: _condition(seen.get("status", {}), "Stalled").get("status") == "True",
            )
            assert _condition(run["status"], "Stalled")["reason"] == "NamespaceNotPrepared"
            assert "default" in _condition(run["status"], "Stalled")["message"]
        finally:
            await elsewhere.delete("AgentRun", "nowhere")
