"""The operator as a process of its own, outside of the cluster with a kubeconfig: started, asked, killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml
from prometheus_client.parser import text_string_to_metric_families

from skerry_api.keys import SigningKey
from skerry_testing.apiserver import ApiServer
from skerry_testing.eventually import eventually_true

__all__ = ["FAST_LEASE", "OperatorProcess", "operator"]

FAST_LEASE = {
    "name": "skerry-operator",
    "durationSeconds": 8,
    "renewSeconds": 6,
    "intervalSeconds": 0.5,
    "retrySeconds": 0.5,
}
IMAGE_ENV = {"MALLOC_ARENA_MAX": "2"}
"""As its image has it: threads with heaps of their own would keep a tenth more."""
UNCOUNTED = frozenset({"Event", "Lease"})
WRITES = frozenset({"create", "update", "apply", "status", "delete"})


@dataclass
class OperatorProcess:
    process: asyncio.subprocess.Process
    identity: str
    probes: str
    metrics: str
    log: Path

    async def ready(self) -> None:
        """Every kind was listed. Raises AssertionError with the log when the process ends instead."""
        await self._until(lambda: self._ok(self.probes + "/readyz"))

    async def leading(self) -> None:
        await self._until(self._leads)

    async def samples(self) -> Mapping[tuple[str, frozenset[tuple[str, str]]], float]:
        async with httpx.AsyncClient(trust_env=False) as client:
            text = (await client.get(self.metrics + "/metrics")).text
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    async def writes(self) -> dict[str, int]:
        """Writes of the budget so far, `verb Kind` → count; Events and the Lease apart."""
        counts: dict[str, int] = {}
        for (name, labels), value in (await self.samples()).items():
            given = dict(labels)
            if name != "skerry_api_calls_total" or given["verb"] not in WRITES or given["kind"] in UNCOUNTED:
                continue
            key = f"{given['verb']} {given['kind']}"
            counts[key] = counts.get(key, 0) + int(value)
        return counts

    def kill(self) -> None:
        """kill -9."""
        self.process.kill()

    async def terminate(self) -> int:
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self.process.wait(), 25)

    def lines(self) -> list[dict[str, Any]]:
        """Its log so far."""
        text = self.log.read_text(encoding="utf-8")
        return [json.loads(line) for line in text.splitlines() if line.startswith("{")]

    async def _leads(self) -> bool:
        if not await self._ok(self.probes + "/readyz"):
            return False
        return (await self.samples()).get(("skerry_leader", frozenset())) == 1.0

    async def _ok(self, url: str) -> bool:
        try:
            async with httpx.AsyncClient(trust_env=False) as client:
                return (await client.get(url)).status_code == 200
        except httpx.TransportError:
            return False

    async def _until(self, holds: Any) -> None:
        async def holds_or_ended() -> bool:
            assert self.process.returncode is None, self.log.read_text(encoding="utf-8")[-4000:]
            return bool(await holds())

        await eventually_true(holds_or_ended, within=60, every=0.05)


@asynccontextmanager
async def operator(
    api: ApiServer, folder: Path, identity: str = "op-a", **config: Any
) -> AsyncIterator[OperatorProcess]:
    """A running operator for the namespace of `api`, killed at the end; several may share a folder (their keys)."""
    probes, metrics = _free_ports(2)
    path = folder / f"{identity}.yaml"
    keys = folder / "keys"
    if not keys.exists():
        keys.mkdir()
        (keys / "current.pem").write_text(SigningKey.generate().to_pem(), encoding="ascii")
    whole = {
        "operatorNamespace": api.namespace,
        "runNamespaces": [api.namespace],
        "runnerImage": "runner:test",
        "sandboxImage": "sandbox:test",
        "keysDirectory": str(keys),
        "probesPort": probes,
        "metricsPort": metrics,
        "requestTimeoutSeconds": 3,
        "lease": FAST_LEASE,
        "cancelGraceSeconds": 2,
    } | config
    path.write_text(yaml.safe_dump(whole), encoding="utf-8")
    log = folder / f"{identity}.log"
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "skerry_operator", "--config", str(path),
            "--kubeconfig", str(api.access.kubeconfig), "--identity", identity,
            stdout=output, stderr=output, env={**os.environ, **IMAGE_ENV},
        )  # fmt: skip
    base = "http://127.0.0.1"
    try:
        yield OperatorProcess(process, identity, f"{base}:{probes}", f"{base}:{metrics}", log)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def _free_ports(count: int) -> list[int]:
    import socket

    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()
