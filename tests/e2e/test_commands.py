"""What people do with `skerry` against a cluster: watch a run live, watch it again, fetch what it made."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

from skerry_testing.world import World, bash, say

OUTPUTS = "/mnt/user-data/outputs"
PATIENCE = 180


async def skerry(world: World, *arguments: str) -> tuple[int, str, str]:
    environment = {
        **os.environ,
        "KUBECONFIG": str(world.stack.access.kubeconfig),
        "SKERRY_KUBECTL": world.stack.kubectl,
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "skerry_cli", *arguments, "-n", world.api.namespace,
        env=environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(PATIENCE):
        out, error = await process.communicate()
    return process.returncode or 0, out.decode(), error.decode()


async def test_a_run_is_watched_live_and_afterwards_and_its_results_fetched(
    world: World, tmp_path: Path
) -> None:
    persistence = {"type": "Volume", "volume": {"size": "64Mi"}}
    await world.create("AgentProfile", "keeping", {"model": {"name": "scripted"}, "persistence": persistence})
    present: dict[str, Any] = {"name": "present_files", "args": {"filepaths": [f"{OUTPUTS}/primes.txt"]}}
    name = await world.run(
        bash(f"seq 3 > {OUTPUTS}/primes.txt", "c1"),
        {"toolCalls": [present]},
        # The stream is up by now, and the run not over yet.
        say("Here.", delaySeconds=4),
        profileRef={"name": "keeping"},
    )
    code, live, told = await skerry(world, "watch", name, "-o", "json")
    status = await world.phase(name, "Succeeded")
    assert code == 0, told
    assert [line for line in told.splitlines() if line.startswith("Succeeded")], told
    lines = [json.loads(line) for line in live.splitlines()]
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert (lines[0]["type"], lines[-1]["type"]) == ("run.start", "run.end")

    code, later, _ = await skerry(world, "watch", name, "-o", "json")
    assert (code, later) == (0, live), "the Pod's log has the same"

    [artifact] = status["runner"]["artifacts"]
    assert (artifact["path"], artifact["size"], artifact["available"]) == (f"{OUTPUTS}/primes.txt", 6, True)
    await world.sandbox_gone(status["sandboxId"])
    code, fetched, error = await skerry(world, "artifacts", name, "--to", str(tmp_path / "got"))
    assert (code, error, fetched.strip()) == (0, "", str(tmp_path / "got/primes.txt"))
    assert (tmp_path / "got/primes.txt").read_text(encoding="utf-8") == "1\n2\n3\n"
    readers = [
        each for each in await world.api.list("Pod") if each["metadata"]["name"].startswith(f"{name}-read-")
    ]
    assert all("deletionTimestamp" in each["metadata"] for each in readers)
