"""Questions on a cluster: the Pod waits in place, or ends and another epoch goes on with sandbox and files."""

from __future__ import annotations

import json
from typing import Any

from skerry_api.names import sandbox_id, state_volume_name
from skerry_testing.skerrycommand import skerry
from skerry_testing.world import World, bash, say

Json = dict[str, Any]
ASK: Json = {
    "name": "ask_clarification",
    "id": "q",
    "args": {"question": "Which?", "options": ["red", "blue"]},
}


def work_and_ask() -> Json:
    command = {"name": "bash", "id": "b", "args": {"command": "echo once >> count.txt"}}
    never = {"name": "bash", "id": "n", "args": {"command": "echo never >> count.txt"}}
    return {"toolCalls": [command, ASK, never]}


def goes_on(told: str) -> Json:
    """The step that has this answer as the question's result."""
    expect = {
        "contains": [f"(?m)^tool: ask_clarification .success.: {told}$", "Not started"],
        "lastRole": "tool",
    }
    return {**bash("cat count.txt | tr '\\n' ' '", "c"), "expect": expect}


def give(world: World, name: str, answers: dict[str, str]) -> str:
    """As Git would, through the API server's rules: texts by id of their question, no others. What it refuses, or ""."""
    given = [{"questionId": question, "text": text} for question, text in answers.items()]
    patch = json.dumps({"spec": {"answers": given}})
    done = world.kubectl("patch", "agentrun", name, "--type=merge", f"--patch={patch}")
    return done.stderr


def ready_message(status: Json) -> str:
    (ready,) = [each for each in status["conditions"] if each["type"] == "Ready"]
    return str(ready["message"])


async def test_without_persistence_the_pod_waits_in_place(world: World) -> None:
    name = await world.run(
        work_and_ask(), goes_on("blue"), say("Done.", "once"), limits={"activeDeadlineSeconds": 600}
    )
    asked = await world.phase(name, "AwaitingInput")
    assert (asked["runner"]["question"]["options"], asked["sandbox"]["state"]) == (["red", "blue"], "Ready")
    assert "deadline" not in asked
    assert "AwaitingInput" in world.kubectl("get", "ar", name).stdout
    pod = await world.api.get("Pod", asked["podName"])
    assert pod["status"]["phase"] == "Running"

    refused = await skerry(world, "answer", name, "--option", "3")
    assert (refused.code, refused.out) == (2, "")
    assert "has options 1 to 2" in refused.error
    given = await skerry(world, "answer", name, "--option", "2")
    assert (given.code, given.error) == (0, "")
    assert given.out == f"question {asked['runner']['question']['id']} of {name} is answered: blue\n"
    done = await world.phase(name, "Succeeded")
    assert (done["epoch"], done["podUID"], done["runner"]["answer"]) == (1, asked["podUID"], "Done.")
    assert "question" not in done["runner"]
    late = await skerry(world, "answer", name, "--text", "rather red")
    assert (late.code, late.error) == (2, f"skerry: run {name} is over: Succeeded\n")


async def test_with_a_volume_another_epoch_goes_on_in_the_parked_sandbox(world: World) -> None:
    volume = {"size": "64Mi", "retentionSeconds": 86400}
    persistence = {"type": "Volume", "volume": volume}
    profile = {"model": {"name": "scripted"}, "persistence": persistence, "privacy": "References"}
    await world.create("AgentProfile", "asking", profile)
    name = await world.run(
        work_and_ask(),
        goes_on("make it blue"),
        say("Done.", "once"),
        profileRef={"name": "asking"},
        threadId="asking",
    )
    box = sandbox_id(world.api.namespace, "default", "asking")
    world.made.append(("PersistentVolumeClaim", state_volume_name(box)))
    asked = await world.phase(name, "AwaitingInput")
    await world.api.wait_for("Sandbox", box, lambda each: each["status"].get("phase") == "Parked", within=60)
    await world.api.wait_for(
        "Pod", f"{name}-1", lambda pod: pod["status"].get("phase") == "Succeeded", within=60
    )
    assert asked["sandbox"]["state"] == "Released"
    # The profile's privacy: by reference only, in the Pod's termination message as well.
    ref = {"size": 6, "event": "question", "id": asked["runner"]["question"]["id"]}
    assert asked["runner"]["question"]["textRef"] == ref
    told = json.dumps([asked, (await world.api.get("Pod", f"{name}-1"))["status"]])
    assert [text for text in ("Which?", "blue") if text in told] == []
    question = asked["runner"]["question"]["id"]
    assert give(world, name, {"q-other": "make it red"}) == ""
    await world.wait(
        name, lambda status: ready_message(status).endswith("answers to other questions only: q-other)")
    )
    assert give(world, name, {"q-other": "make it red", question: "make it blue"}) == ""
    assert "can't be changed" in give(world, name, {question: "rather red"})
    done = await world.phase(name, "Succeeded", within=180)
    assert (done["epoch"], done["attempts"], done["runner"]["answerRef"]["size"]) == (2, 1, 5)
    assert "answer" not in done["runner"]
    assert done["sandbox"]["podUID"] == asked["sandbox"]["podUID"]
    assert done["sandbox"]["replacements"] == 0
    assert "question" not in done["runner"]
    journal = world.journal(f"{name}-2")
    found = [event["text"] for event in journal if event.get("id") == done["runner"]["answerRef"]["id"]]
    assert found == ["Done."]
    calls = [event["id"] for event in journal if event["type"] == "tool.call"]
    assert calls == ["c"]


async def test_nobody_is_asked_where_the_profile_has_it_so(world: World) -> None:
    profile = {"model": {"name": "scripted"}, "pipeline": {"clarification": {"enabled": False}}}
    await world.create("AgentProfile", "unwatched", profile)
    name = await world.run(
        {"toolCalls": [ASK]},
        say(
            "Blue: I assumed it.",
            r"(?m)^tool: ask_clarification .success.: Nobody is there.*Decide by yourself",
        ),
        profileRef={"name": "unwatched"},
    )
    done = await world.phase(name, "Succeeded")
    assert (done["epoch"], done["runner"]["answer"]) == (1, "Blue: I assumed it.")
    assert [key for key in ("pausedSince", "pausedSeconds") if done.get(key)] == []
    assert "question" not in [event["type"] for event in world.journal(done["podName"])]
