"""The real Open Policy Agent: its server built from its Go module into the cache, like the cluster's binaries."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from skerry_testing.controlplane import DEV

__all__ = ["Opa", "opa_binary", "running_opa"]

BUILD_SECONDS = 1800  # A first build, which may wait for another one.


def opa_binary() -> Path:
    """Built at the first call on a machine, which takes a minute or two. Raises RuntimeError saying why it can't be."""
    command = [str(DEV), "build", "opa"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=BUILD_SECONDS)
    if done.returncode:
        raise RuntimeError(f"{DEV.name} build opa failed:\n{done.stderr}")
    return Path(done.stdout.rstrip("\n").partition("\t")[2]) / "opa"


class Opa:
    """A server of one's own, `url` without a slash at its end."""

    def __init__(self, url: str, process: asyncio.subprocess.Process) -> None:
        self.url = url
        self._process = process

    async def put(self, name: str, rego: str) -> httpx.Response:
        """Put a policy, as its API has it; what it answered."""
        async with httpx.AsyncClient(trust_env=False) as client:
            return await client.put(f"{self.url}/v1/policies/{name}", content=rego)

    async def stop(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()


@asynccontextmanager
async def running_opa(binary: Path, log: Path) -> AsyncIterator[Opa]:
    """On loopback, without policies. What it says goes to the log."""
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            binary, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=output
        )
    opa = Opa("", process)
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            address = (await process.stdout.readline()).decode().strip()
        assert address, f"OPA did not start: see {log}"
        opa.url = f"http://{address}"
        yield opa
    finally:
        await opa.stop()
