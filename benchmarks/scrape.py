"""The operator's own counters, read through the API server's proxy."""

from __future__ import annotations

from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from skerry_testing.apiserver import ApiServer
from skerry_testing.stack import Stack
from skerry_testing.world import World

__all__ = ["memory_mib", "writes"]

WRITES = {"create", "delete", "apply", "status"}
APART = {"Event", "Lease"}
"""Not part of the budget of writes per run."""


async def _families(stack: Stack) -> str:
    async with ApiServer(stack.access, stack.operator_namespace) as system:
        name = (await World.operator_pod(system))["metadata"]["name"]
        path = f"/api/v1/namespaces/{stack.operator_namespace}/pods/{name}:9090/proxy/metrics"
        answer = await system.http.get(path)
        answer.raise_for_status()
        return answer.text


async def writes(stack: Stack) -> dict[str, int]:
    """Writes since the operator's start by "verb kind", Events and Lease apart."""
    counted: dict[str, int] = {}
    for family in text_string_to_metric_families(await _families(stack)):
        for sample in family.samples:
            labels = sample.labels
            if (
                sample.name == "skerry_api_calls_total"
                and labels["verb"] in WRITES
                and labels["kind"] not in APART
            ):
                key = f"{labels['verb']} {labels['kind']}"
                counted[key] = counted.get(key, 0) + int(sample.value)
    return counted


async def memory_mib(stack: Stack) -> float:
    """Resident memory of the operator's process, in MiB."""
    async with ApiServer(stack.access, stack.operator_namespace) as system:
        pod = await World.operator_pod(system)
    pid = stack.pid_of(pod["status"]["containerStatuses"][0]["containerID"])
    return _resident(pid)


def _resident(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024
