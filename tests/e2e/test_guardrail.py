"""The guardrail in a cluster: a policy endpoint behind a Service decides each call, and where there is none, nothing is done."""

from __future__ import annotations

import json
from typing import Any

from skerry_testing.serverpod import policy_stub
from skerry_testing.world import World, bash, say

Json = dict[str, Any]
POLICY = "policy-endpoint"
TOKEN = "Bearer e2e-policy-0123456789"
NONE = r"could not be found out .no-decision."


async def test_an_endpoint_decides_each_call_and_without_it_none_is_made(world: World) -> None:
    stub = await policy_stub(
        world, POLICY, authorization=TOKEN, deny={"c2": "what is made stays made"}, last="c3"
    )
    await world.secret("policy-headers", headers=f"Authorization: {TOKEN}\n")
    http = {
        "url": f"{stub.service}/v1/data/skerry/allow",
        "timeoutSeconds": 2,
        "headersSecretRef": {"name": "policy-headers", "key": "headers"},
    }
    profile: Json = {"model": {"name": "scripted"}, "guardrail": {"http": http}}
    reaching = {"runner": {"network": {"allow": [stub.cidr]}}}
    await world.create("AgentProfile", "guarded", {**profile, **reaching})
    # The same without a way there: the runners' policy lets nobody into the cluster.
    await world.create("AgentProfile", "cut-off", profile)
    name = await world.run(
        bash("echo made | tee made.txt", "c1"),
        bash("rm made.txt", "c2", expect={"contains": [r"bash .success.: made"]}),
        bash("rm made.txt", "c3", expect={"contains": [r"bash .error.: .*denied: what is made stays made .policy."]}),
        bash("rm made.txt", "c4", expect={"contains": [NONE]}),
        say("It stays.", f"(?s){NONE}.*{NONE}"),
        profileRef={"name": "guarded"},
        threadId="guarded",
    )  # fmt: skip
    cut_off = await world.run(bash("echo never", "n1"), say("Denied.", NONE), profileRef={"name": "cut-off"})

    status = await world.phase(name, "Succeeded")
    journal = world.journal(status["podName"])
    denials = [event for event in journal if event["type"] == "guardrail"]
    assert [(each["id"], each["decision"], each["provider"], each["code"]) for each in denials] == [
        ("c2", "deny", "http", "policy"),
        ("c3", "deny", "http", "no-decision"),
        ("c4", "deny", "http", "no-decision"),
    ]
    assert ["error" in each for each in denials] == [False, True, True]
    await world.api.wait_for(
        "Sandbox", status["sandboxId"], lambda seen: seen["status"].get("phase") == "Parked"
    )
    assert world.in_pod(status["sandbox"]["name"], "cat", "/mnt/user-data/workspace/made.txt") == "made\n"

    refused = await world.phase(cut_off, "Succeeded")
    assert "sandboxId" not in refused, "a denied call acquires no sandbox"
    (unreached,) = [event for event in world.journal(refused["podName"]) if event["type"] == "guardrail"]
    assert (unreached["id"], unreached["code"]) == ("n1", "no-decision")

    # It went as a program ends, in the midst of a request.
    await world.api.wait_for("Pod", POLICY, lambda pod: pod["status"]["phase"] == "Succeeded")
    asked = [
        json.loads(line) for line in world.kubectl("logs", POLICY).stdout.splitlines() if line.startswith("{")
    ]
    assert [each["id"] for each in asked] == ["c1", "c2", "c3"], "and by nobody else"
    first = asked[0]
    assert (first["tool"], first["arguments"]) == ("bash", {"command": "echo made | tee made.txt"})
    assert (first["agent"], first["run_name"], first["namespace"]) == ("lead", name, world.api.namespace)
    assert (first["profile"], first["thread"], first["user"]) == ("guarded", "guarded", "default")
    assert TOKEN not in json.dumps([status, refused, journal])
