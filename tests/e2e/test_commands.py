"""What people do with `skerry` against a cluster: watch a run, fetch what it made, go into its sandbox."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from skerry_testing.skerrycommand import skerry
from skerry_testing.world import World, bash, say

OUTPUTS = "/mnt/user-data/outputs"


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


async def test_people_go_into_a_sandbox_of_a_run_and_one_of_their_own(world: World, tmp_path: Path) -> None:
    spec = {"classRef": {"name": "default"}, "userId": "people", "threadId": "mine"}
    await world.create("Sandbox", "mine", spec)
    run = await world.run(bash("echo from the agent > a.txt", "c1"), say("Done."), threadId="visited")
    sandbox = (await world.phase(run, "Succeeded"))["sandboxId"]
    world.made.append(("Sandbox", sandbox))

    (tmp_path / "in.txt").write_text("from here", encoding="utf-8")
    assert await skerry(world, "cp", str(tmp_path / "in.txt"), f"{run}:") == (0, "", "")
    assert await skerry(world, "exec", run, "--", "bash", "-c", "cat a.txt in.txt; exit 5") == (
        5, "from the agent\nfrom here", "",
    )  # fmt: skip
    assert await skerry(world, "cp", f"sbx/{sandbox}:/mnt/user-data/workspace", str(tmp_path / "out")) == (
        0,
        "",
        "",
    )
    assert (tmp_path / "out/a.txt").read_text(encoding="utf-8") == "from the agent\n"

    await world.api.wait_for(
        "Sandbox", "mine", lambda seen: seen["status"].get("phase") == "Ready", within=120
    )
    code, out, said = await skerry(world, "shell", "sbx/mine", given=b"pwd; exit 3\n")
    assert (code, out) == (3, "/mnt/user-data/workspace\n"), said  # kubectl names the exit code, too.
