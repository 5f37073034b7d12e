"""How many runs one operator process admits, and how soon the next one has taken over 1,000 live ones.

On an API server without nodes: Pods are objects, and their kubelets and runners are played by hand.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path

from skerry_testing.apiserver import ApiServer
from skerry_testing.controlplane import control_plane
from skerry_testing.eventually import eventually_true
from skerry_testing.fixtures import install_crds, temporary_namespace
from skerry_testing.handmade import Hands
from skerry_testing.operatorproc import OperatorProcess, operator

__all__ = ["scale"]

AT_ONCE = 16
PATIENCE = 900
_LEASE = {
    "name": "skerry-operator",
    "durationSeconds": 9,
    "renewSeconds": 6,
    "intervalSeconds": 2,
    "retrySeconds": 1,
}
"""The chart's own."""


async def scale(count: int) -> dict[str, float]:
    """Runs admitted per second; seconds from kill -9 until another process leads, and has caught up with them all."""
    with control_plane("bench-scale") as plane, tempfile.TemporaryDirectory() as folder:
        await install_crds(plane.access)
        async with temporary_namespace(plane.access, "scale") as api:
            return await _measure(api, Path(folder), count)


async def _measure(api: ApiServer, folder: Path, count: int) -> dict[str, float]:
    hands = Hands(api)
    await hands.prepare()
    names = [f"run-{number}" for number in range(count)]
    await _all(hands.submit, names)
    config = {"maxRunsPerNamespace": count, "lease": _LEASE}
    async with operator(api, folder, "first", **config) as first:
        await first.leading()
        began = time.monotonic()
        await _reached(first, "Provisioning", count)
        admitted = time.monotonic() - began
        await _all(lambda name: hands.kubelet_runs(f"{name}-1"), names)
        await _reached(first, "Running", count)
        memory = _resident(first)
        first.kill()
        killed = time.monotonic()
        await _all(hands.report_end, names[: count // 10])
        async with operator(api, folder, "second", **config) as second:
            await second.leading()
            led = time.monotonic() - killed
            await _reached(second, "Succeeded", count // 10)
            await eventually_true(lambda: _idle(second), within=PATIENCE, every=0.05)
            recovered = time.monotonic() - killed
            pods = [pod["metadata"]["name"] for pod in await api.list("Pod")]
            doubled = sum(not name.endswith("-1") for name in pods)
            doubled += sum(run["status"]["epoch"] > 1 for run in await api.list("AgentRun"))
            writes = sum((await second.writes()).values())
    return {
        "runs admitted per second": count / admitted,
        f"memory with {count} live runs, MiB": memory,
        "kill -9 to the next leader, seconds (the Lease's 9 among them)": led,
        f"kill -9 to all {count} looked at and a tenth of them ended, seconds": recovered,
        "Pods and runs of another epoch (0: nothing doubled)": float(doubled),
        "writes of the next leader (a status and its Pod's deletion for each run that ended)": float(writes),
    }


async def _all(act: Callable[[str], Awaitable[object]], names: Iterable[str]) -> None:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(name: str) -> None:
        async with gate:
            await act(name)

    await asyncio.gather(*(one(name) for name in names))


async def _reached(op: OperatorProcess, phase: str, count: int) -> None:
    async def holds() -> bool:
        return (await op.samples()).get(("skerry_runs", frozenset({("phase", phase)}))) == count

    await eventually_true(holds, within=PATIENCE, every=0.05)


async def _idle(op: OperatorProcess) -> bool:
    return (await op.samples())["skerry_queue_depth", frozenset()] == 0


def _resident(op: OperatorProcess) -> float:
    lines = Path(f"/proc/{op.process.pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024
