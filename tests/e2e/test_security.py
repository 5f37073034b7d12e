"""Who may call a sandbox, who may write a run's status, what a sandbox may reach."""

from __future__ import annotations

import base64
import json
import secrets
import socket
import time
from typing import Any

import pytest

from skerry_api.grants import Confirmation, Grant, RunRef, issue_grant
from skerry_api.keys import SigningKey
from skerry_api.proofs import EMPTY_BODY_HASH, make_proof
from skerry_testing.apierrors import ApiError
from skerry_testing.apiserver import ApiServer
from skerry_testing.eventually import eventually_true
from skerry_testing.probe import Probe, probe
from skerry_testing.world import World, bash, say

RUNNER = {"app.kubernetes.io/managed-by": "skerry", "skerry.dev/component": "runner"}


async def _parked(world: World, thread: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A run that has ended and its parked Sandbox."""
    name = await world.run(bash("echo hi", "c1"), say("Done.", "hi"), threadId=thread)
    await world.phase(name, "Succeeded")
    run = await world.api.get("AgentRun", name)
    sandbox = await world.api.wait_for(
        "Sandbox", run["status"]["sandboxId"], lambda seen: seen["status"].get("phase") == "Parked"
    )
    return run, sandbox


async def _live(world: World, thread: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A run that lives on for a while, and the sandbox that it holds."""
    name = await world.run(bash("echo hi", "c1"), say("Done.", "hi", delaySeconds=60), threadId=thread)
    run = await world.wait(name, lambda status: status.get("sandbox", {}).get("state") == "Ready")
    return run, await world.api.get("Sandbox", run["status"]["sandbox"]["name"])


async def _operator_key(world: World) -> SigningKey:
    async with ApiServer(world.stack.access, world.stack.operator_namespace) as system:
        secret = await system.get("Secret", "skerry-signing-key")
    return SigningKey.from_pem(base64.b64decode(secret["data"]["current.pem"]))


def _headers(url: str, grant: str, key: SigningKey) -> dict[str, str]:
    proof = make_proof(
        key,
        method="GET",
        url=url,
        grant=grant,
        body_hash=EMPTY_BODY_HASH,
        now=int(time.time()),
        jti=secrets.token_hex(16),
    )
    return {"Authorization": f"DPoP {grant}", "DPoP": proof}


async def test_sandboxd_refuses_all_but_a_grant_and_a_fresh_proof(world: World) -> None:
    run, sandbox = await _live(world, "grants")
    caller = await probe(world, "grants-runner", **RUNNER)
    signing, mine = await _operator_key(world), SigningKey.generate()
    url = f"{sandbox['status']['endpoint']}/v1/idle"
    now = int(time.time())

    def grant(**changes: Any) -> str:
        claims = {
            "namespace": world.api.namespace, "sandbox_id": sandbox["metadata"]["name"],
            "pod_uid": sandbox["status"]["podUID"], "run": RunRef(uid=run["metadata"]["uid"], name="x"), "epoch": 99,
            "cnf": Confirmation(jkt=mine.public.thumbprint), "iat": now, "exp": now + 600, "jti": secrets.token_hex(16),
        }  # fmt: skip
        return issue_grant(Grant(**(claims | changes)), changes.get("signed_by", signing))

    good = _headers(url, grant(), mine)
    assert caller.call(url, headers=good).status == 200
    refusals = {
        "no grant": caller.call(url),
        "replayed proof": caller.call(url, headers=good),
        "stolen grant": caller.call(url, headers=_headers(url, run["status"]["sandbox"]["grant"], mine)),
        "foreign key": caller.call(
            url, headers=_headers(url, issue_grant_by(SigningKey.generate(), grant, mine), mine)
        ),
        "expired": caller.call(url, headers=_headers(url, grant(exp=now - 120, iat=now - 240), mine)),
        "lower epoch": caller.call(url, headers=_headers(url, grant(epoch=1), mine)),
        "other sandbox": caller.call(url, headers=_headers(url, grant(sandbox_id="sbx-other"), mine)),
        "other Pod": caller.call(url, headers=_headers(url, grant(pod_uid="another"), mine)),
    }
    statuses = {name: answer.status for name, answer in refusals.items()}
    assert {name: status for name, status in statuses.items() if not 400 <= status < 500} == {}, refusals
    assert all(json.loads(answer.body)["reason"] for answer in refusals.values())
    assert caller.call(f"{sandbox['status']['endpoint']}/health").status == 200


def issue_grant_by(key: SigningKey, grant: Any, mine: SigningKey) -> str:
    """The same claims, signed by somebody who is not the operator."""
    return str(grant(signed_by=key, cnf=Confirmation(jkt=mine.public.thumbprint)))


async def test_only_runner_and_operator_pods_reach_a_sandbox(world: World) -> None:
    _, sandbox = await _parked(world, "policy")
    host = sandbox["status"]["endpoint"].removeprefix("http://").rsplit(":", 1)[0]
    runner = await probe(world, "policy-runner", **RUNNER)
    stranger = await probe(world, "policy-stranger")
    assert runner.connects(host, 8090)
    assert not stranger.connects(host, 8090)
    assert not runner.connects(host, 22)
    async with ApiServer(world.stack.access, world.stack.operator_namespace) as system:
        pod = (await world.operator_pod(system))["metadata"]["name"]
    assert Probe(world, pod, world.stack.operator_namespace).connects(host, 8090)


async def test_a_runner_reaches_names_and_the_api_and_nothing_else_of_the_cluster(world: World) -> None:
    runner = await probe(world, "egress-runner", **RUNNER)
    (service,) = await _services(world)
    assert runner.resolves("kubernetes.default.svc.cluster.local") == service
    assert runner.connects(service, 443)
    other = await probe(world, "egress-other", **RUNNER)
    address = (await world.api.get("Pod", other.pod))["status"]["podIP"]
    registry, port = world.stack.registry.rsplit(":", 1)
    assert not runner.connects(registry, int(port)), "a private address"
    # Somebody listens there: only the policy is in the way.
    socket.create_connection((registry, int(port)), timeout=5).close()
    world.kubectl("exec", other.pod, "--", "sh", "-c", "python3 -m http.server 8099 >/dev/null 2>&1 &")
    await eventually_true(lambda: _listens(other, address), within=60)
    assert not runner.connects(address, 8099), "no runner takes connections"


async def _listens(pod: Probe, address: str) -> bool:
    return pod.connects(address, 8099)


async def test_a_sandbox_reaches_nothing(world: World) -> None:
    _, sandbox = await _parked(world, "egress")
    inside = Probe(world, sandbox["status"]["podName"])
    server = await world.api.get("Pod", sandbox["status"]["podName"])
    assert (
        "serviceAccountName" not in server["spec"] or server["spec"]["automountServiceAccountToken"] is False
    )
    api_host = world.stack.access.server.removeprefix("https://").rsplit(":", 1)
    assert not inside.connects(api_host[0], int(api_host[1]))
    for each in await _services(world):
        assert not inside.connects(each, 443), each


async def _services(world: World) -> list[str]:
    async with ApiServer(world.stack.access, "default") as api:
        return [str((await api.get("Service", "kubernetes"))["spec"]["clusterIP"])]


async def test_a_sandbox_pod_is_locked_down(world: World) -> None:
    _, sandbox = await _parked(world, "locked")
    pod = sandbox["status"]["podName"]
    assert world.in_pod(pod, "id", "-u").strip() == "10001"
    assert "Read-only file system" in world.kubectl("exec", pod, "--", "touch", "/usr/bin/x").stderr
    assert world.kubectl("exec", pod, "--", "ls", "/var/run/secrets").returncode != 0
    assert world.in_pod(pod, "cat", "/proc/self/status").count("CapEff:\t0000000000000000") == 1
    assert "NoNewPrivs:\t1" in world.in_pod(pod, "cat", "/proc/self/status")
    assert "Seccomp:\t2" in world.in_pod(pod, "cat", "/proc/self/status")


async def test_a_runners_token_is_held_to_its_own_run_and_fields(world: World) -> None:
    one = await world.run(say("One.", delaySeconds=30))
    other = await world.run(say("Other.", delaySeconds=30))
    mine = await world.phase(one, "Running")
    await world.phase(other, "Running")
    pod = await world.api.get("Pod", mine["podName"])
    theirs = (await world.api.get("AgentRun", other))["status"]
    token = await world.api.token_for("skerry-runner", pod)
    async with world.api.as_token(token) as runner:
        report = {
            "runner": {
                "epoch": 1,
                "podUID": mine["podUID"],
                "progress": {"turn": 7, "modelCalls": 7, "toolCalls": 0},
            }
        }
        await runner.apply_status("AgentRun", one, report, "probe")
        for name, status in (
            (other, {"runner": {"epoch": 1, "podUID": theirs["podUID"]}}),
            (one, {"phase": "Succeeded"}),
            (one, {"podUID": "another"}),
            (one, {"sandbox": {"name": "sbx-foreign", "state": "Ready"}}),
        ):
            with pytest.raises(ApiError) as refused:
                await runner.apply_status("AgentRun", name, status, "probe")
            assert refused.value.code in {403, 422}, (name, status, refused.value)
        with pytest.raises(ApiError):
            await runner.list("Secret")
        with pytest.raises(ApiError):
            await runner.list("Pod")
        with pytest.raises(ApiError):
            await runner.patch("AgentRun", one, {"spec": {"cancel": True}})
