"""`skerry` as a process of its own, against the tests' cluster: what a person types."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import NamedTuple

from skerry_testing.world import World

__all__ = ["Said", "skerry"]

PATIENCE = 180


class Said(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    out: str
    error: str


async def skerry(world: World, command: str, *arguments: str, given: bytes = b"") -> Said:
    """Run it in the world's namespace, with the cluster's own kubectl; `given` comes in by stdin. Raises TimeoutError."""
    environment = {
        **os.environ,
        "KUBECONFIG": str(world.stack.access.kubeconfig),
        "SKERRY_KUBECTL": world.stack.kubectl,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "skerry_cli", command, "-n", world.api.namespace, *arguments, env=environment,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(PATIENCE):
        out, error = await process.communicate(given)
    return Said(process.returncode or 0, out.decode(), error.decode())
