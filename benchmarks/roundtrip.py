"""A command through sandboxd against the same command through `kubectl exec`, in one run."""

from __future__ import annotations

import base64
import json
import statistics
import time
from typing import Any

from skerry_testing.apiserver import ApiServer
from skerry_testing.probe import Probe, probe
from skerry_testing.world import World, bash, say

__all__ = ["roundtrip"]

# Runs inside a Pod that may reach the sandbox, with the runner's own client.
_LOOP = """
import asyncio, json, sys, time
from skerry_api.keys import SigningKey
from skerry_runner.sandbox.access import Access
from skerry_runner.sandbox.remote import RemoteSandbox
from skerry_api.grants import Confirmation, Grant, RunRef, issue_grant
facts = json.loads(sys.argv[1])
mine = SigningKey.generate()
now = int(time.time())
grant = issue_grant(Grant(namespace=facts["namespace"], sandbox_id=facts["sandbox"], pod_uid=facts["podUID"],
    run=RunRef(uid="bench", name="bench"), epoch=1000, cnf=Confirmation(jkt=mine.public.thumbprint), iat=now,
    exp=now + 600, jti="benchmark-" + "0" * 16), SigningKey.from_pem(facts["key"].encode()))
class Provider:
    async def current(self):
        return Access(endpoint=facts["endpoint"], grant=grant, pod_uid=facts["podUID"])
    async def renewed(self, stale):
        raise RuntimeError("no renewal here")
async def main():
    sandbox = RemoteSandbox(facts["sandbox"], Provider(), mine)
    taken = []
    for number in range(facts["times"] + 3):
        begun = time.perf_counter()
        result = await sandbox.execute("true", key=f"bench:{now}:{number}")
        assert result.exit_code == 0
        taken.append(time.perf_counter() - begun)
    await sandbox.close()
    print(json.dumps(taken[3:]))
asyncio.run(main())
"""


async def roundtrip(world: World, times: int) -> dict[str, float]:
    """Medians in milliseconds, and their ratio."""
    name = await world.run(bash("true", "c1"), say("Done."), threadId="roundtrip")
    status = await world.phase(name, "Succeeded")
    sandbox = await world.api.wait_for(
        "Sandbox", status["sandboxId"], lambda seen: seen["status"].get("phase") == "Parked"
    )
    caller = await _caller(world)
    facts = await _facts(world, sandbox, times)
    direct = json.loads(world.in_pod(caller.pod, "/opt/skerry/bin/python", "-c", _LOOP, json.dumps(facts)))
    through_exec = []
    for _ in range(times):
        begun = time.perf_counter()
        world.in_pod(sandbox["status"]["podName"], "true")
        through_exec.append(time.perf_counter() - begun)
    one, other = statistics.median(direct) * 1000, statistics.median(through_exec) * 1000
    return {"sandboxd, ms": one, "kubectl exec, ms": other, "ratio": one / other}


async def _caller(world: World) -> Probe:
    labels = {"app.kubernetes.io/managed-by": "skerry", "skerry.dev/component": "runner"}
    return await probe(world, "bench-caller", image="runner", **labels)


async def _facts(world: World, sandbox: dict[str, Any], times: int) -> dict[str, Any]:
    async with ApiServer(world.stack.access, world.stack.operator_namespace) as system:
        secret = await system.get("Secret", "skerry-signing-key")
    return {
        "namespace": world.api.namespace, "sandbox": sandbox["metadata"]["name"], "times": times,
        "podUID": sandbox["status"]["podUID"], "endpoint": sandbox["status"]["endpoint"],
        "key": base64.b64decode(secret["data"]["current.pem"]).decode(),
    }  # fmt: skip
