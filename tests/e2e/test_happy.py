"""A run, from apply to answer."""

from __future__ import annotations

from typing import Any

from skerry_testing.world import World, bash, say


def _conditions(status: dict[str, Any]) -> dict[str, str]:
    return {each["type"]: each["status"] for each in status["conditions"]}


async def test_a_run_with_a_sandbox(world: World) -> None:
    name = await world.run(
        bash("echo $((6 * 7)) > answer.txt; cat answer.txt; id -u", "c1"),
        say("It is 42.", "tool.*\n?.*42", "10001"),
        threadId="happy",
    )
    status = await world.phase(name, "Succeeded")
    assert status["runner"]["answer"] == "It is 42."
    assert status["stopReason"] == "EndTurn"
    assert status["sandboxId"] == status["sandbox"]["name"]
    progress = dict(status["runner"]["progress"])
    assert progress.pop("title")
    assert progress == {"turn": 2, "modelCalls": 2, "toolCalls": 1}
    assert status["epoch"] == status["attempts"] == 1
    assert _conditions(status) == {
        "Ready": "True",
        "Reconciling": "False",
        "Stalled": "False",
        "Succeeded": "True",
    }
    assert status["observedGeneration"] == 1

    sandbox = await world.api.wait_for(
        "Sandbox", status["sandboxId"], lambda seen: seen["status"].get("phase") == "Parked"
    )
    assert sandbox["status"]["podUID"] == status["sandbox"]["podUID"]
    assert "holder" not in sandbox["status"]
    # Parked, not destroyed: the file is still there to be looked at.
    found = world.in_pod(sandbox["status"]["podName"], "cat", "/mnt/user-data/workspace/answer.txt")
    assert found == "42\n"


async def test_a_run_without_sandbox_tools_makes_no_sandbox(world: World) -> None:
    name = await world.run(say("Nothing to run."), threadId="no-sandbox")
    status = await world.phase(name, "Succeeded")
    assert "sandbox" not in status
    assert "sandboxId" not in status
    assert [
        each for each in await world.api.list("Sandbox") if each["spec"]["threadId"] == "no-sandbox"
    ] == []


async def test_an_eager_run_has_its_sandbox_before_it_asks(world: World) -> None:
    name = await world.run(say("Done.", delaySeconds=8), threadId="eager", sandbox={"acquire": "Eager"})
    await world.wait(name, lambda status: status.get("sandbox", {}).get("state") == "Ready")
    status = await world.phase(name, "Succeeded")
    assert status["runner"]["progress"]["toolCalls"] == 0


async def test_a_run_that_is_its_own_thread_leaves_no_sandbox(world: World) -> None:
    name = await world.run(bash("echo hi", "c1"), say("Done.", "hi"))
    status = await world.phase(name, "Succeeded")
    assert status["threadId"] == (await world.api.get("AgentRun", name))["metadata"]["uid"]
    await world.sandbox_gone(status["sandboxId"])


async def test_kubectl_shows_what_a_person_looks_for(world: World) -> None:
    name = await world.run(say("Done."))
    await world.phase(name, "Succeeded")
    lines = world.kubectl("get", "ar", name).stdout.splitlines()
    assert lines[0].split() == ["NAME", "PHASE", "REASON", "SANDBOX", "AGE"]
    assert lines[1].split()[:2] == [name, "Succeeded"]
    waited = world.kubectl("wait", "--for=condition=Succeeded", f"ar/{name}", "--timeout=5s")
    assert waited.returncode == 0, waited.stderr
