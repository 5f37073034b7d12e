"""The operator's Deployment, as people handle it: more Pods of it, another one leading, all of them anew."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from skerry_testing.apiserver import ApiServer
from skerry_testing.eventually import eventually_true
from skerry_testing.world import PATIENCE, World

__all__ = ["kill_leader", "leader", "restart_operator", "scaled"]

Json = dict[str, Any]
DEPLOYMENT = LEASE = "skerry-operator"
LABELS = "skerry.dev/component=operator"


@asynccontextmanager
async def scaled(world: World, replicas: int) -> AsyncIterator[ApiServer]:
    """So many Pods of the operator are ready; one again afterwards. Yields its namespace's client."""
    async with ApiServer(world.stack.access, world.stack.operator_namespace) as system:
        await _scale(system, replicas)
        try:
            yield system
        finally:
            await _scale(system, 1)


async def _scale(system: ApiServer, replicas: int) -> None:
    await system.patch("Deployment", DEPLOYMENT, {"spec": {"replicas": replicas}})

    async def there() -> bool:
        pods = await system.list("Pod", labels=LABELS)
        return [_ready(pod) for pod in pods] == [True] * replicas

    await eventually_true(there, within=PATIENCE)


def _ready(pod: Json) -> bool:
    conditions = pod["status"].get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


async def leader(system: ApiServer) -> str:
    """Name of the Pod that the Lease names; empty while nobody leads."""
    holder = (await system.get("Lease", LEASE))["spec"].get("holderIdentity") or ""
    return str(holder).partition("_")[0]


async def kill_leader(world: World, system: ApiServer) -> str:
    """The leading Pod dies as with its Node: at once, without giving up its Lease, never to come back. Its name."""
    name = await leader(system)
    pod = await system.get("Pod", name)
    os.kill(world.stack.pid_of(pod["status"]["containerStatuses"][0]["containerID"]), signal.SIGKILL)
    await system.delete("Pod", name, grace=0, uid=pod["metadata"]["uid"])
    await system.wait_gone("Pod", name, within=PATIENCE)
    return name


async def restart_operator(world: World, system: ApiServer) -> None:
    """As a person does: `kubectl rollout restart`. Returns when only its new Pod is there, and leads."""
    rollout = ("-n", world.stack.operator_namespace, "rollout")
    world.kubectl(*rollout, "restart", f"deployment/{DEPLOYMENT}").check_returncode()
    world.kubectl(*rollout, "status", f"deployment/{DEPLOYMENT}", "--timeout=50s").check_returncode()

    async def alone() -> bool:
        pods = [pod["metadata"]["name"] for pod in await system.list("Pod", labels=LABELS)]
        return pods == [await leader(system)]

    await eventually_true(alone, within=PATIENCE)
