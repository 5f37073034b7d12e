"""The demo as a process, on the tests' own cluster: what it prints works when it is typed."""

from __future__ import annotations

import asyncio
import json
import shlex
from pathlib import Path

from demo.target import ROOT
from skerry_testing.world import World

WITHIN = 420
HINTS = 7


async def test_the_demo_plays_its_example_and_all_that_it_suggests_works(
    world: World, tmp_path: Path
) -> None:
    for kind, name in (("AgentProfile", "hello"), ("AgentRun", "hello"), ("AgentRun", "hello-again")):
        world.made.append((kind, name))
    # Installed already, and nothing of it may change: other tests use it.
    values = tmp_path / "values.json"
    values.write_text(json.dumps(world.stack.values), encoding="utf-8")
    demo = await asyncio.create_subprocess_exec(
        str(ROOT / "hack/skerry-demo"), "up", "--name", world.stack.instance, "--namespace", world.api.namespace,
        "--values", str(values),
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    async with asyncio.timeout(WITHIN):
        out, error = await demo.communicate()
    shown = out.decode()
    assert demo.returncode == 0, shown + error.decode()
    assert "There are 25 primes below 100." in " ".join(shown.split())

    # `k` is the alias that it prints: kubectl in the demo's namespace.
    (hint,) = [line for line in shown.splitlines() if line.startswith("  alias k=")]
    assert f"--name {world.stack.instance} -- -n {world.api.namespace}" in hint
    typed = [line.partition("  k ")[2] for line in shown.splitlines() if "  k " in line]
    assert len(typed) == HINTS
    for each in typed:
        done = world.kubectl(*shlex.split(each))
        assert (done.returncode, done.stderr) == (0, ""), each
    again = await world.phase("hello-again", "Succeeded")
    first = (await world.api.get("AgentRun", "hello"))["status"]
    assert again["sandboxId"] == first["sandboxId"], "the next run works in the same sandbox"
