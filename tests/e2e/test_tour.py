"""A run through most middlewares and tools, in the cluster and by `skerry run`: the same script, the same end."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import yaml

from skerry_testing import tour
from skerry_testing.serverpod import ServerPod, mcp_server
from skerry_testing.world import World

STAGED = "file.staged"
SKERRY = Path(sys.executable).with_name("skerry")


async def test_the_tour_in_the_cluster_and_on_a_laptop(world: World, tmp_path: Path) -> None:
    server = await mcp_server(world, "tour-mcp")
    in_cluster, local = await asyncio.gather(_in_cluster(world, server), _by_skerry_run(server, tmp_path))
    tour.check(*in_cluster)
    tour.check(*local)
    kinds, staged = [], []
    for _, journal in (in_cluster, local):
        kinds.append([line["type"] for line in journal if line["type"] != STAGED])
        staged.append(sorted(line["path"] for line in journal if line["type"] == STAGED))
    assert kinds[0] == kinds[1]
    # On a laptop files are written at once, in the cluster when the sandbox is there.
    assert staged[0] == staged[1]


async def _in_cluster(world: World, server: ServerPod) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    await world.secret(tour.SECRET, **tour.secret())
    files = tour.config_map()
    await world.config_map(tour.CONFIG_MAP, files["data"], files["binaryData"])
    await world.create("AgentProfile", "tour", tour.profile(server.service, allow=server.cidr))
    await world.create("AgentRun", "tour", {"profileRef": {"name": "tour"}, **tour.run()})
    status = await world.phase("tour", "Succeeded")
    return status, world.journal(status["podName"])


async def _by_skerry_run(server: ServerPod, folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    ours, core = "skerry.dev/v1alpha1", "v1"
    documents = [
        _document(ours, "AgentProfile", "tour", spec=tour.profile(server.direct)),
        _document(ours, "AgentRun", "tour", spec={"profileRef": {"name": "tour"}, **tour.run()}),
        _document(core, "ConfigMap", tour.CONFIG_MAP, **tour.config_map()),
        _document(core, "Secret", tour.SECRET, stringData=tour.secret()),
    ]
    given, journal = folder / "tour.yaml", folder / "journal.jsonl"
    given.write_text(yaml.safe_dump_all(documents))
    process = await asyncio.create_subprocess_exec(
        SKERRY, "run", "-f", given, "--data-dir", folder / "data", "--journal", journal, "-o", "json",
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, said = await process.communicate()
    assert process.returncode == 0, said.decode()
    lines = await asyncio.to_thread(journal.read_text, encoding="utf-8")
    return json.loads(out)["status"], [json.loads(line) for line in lines.splitlines()]


def _document(version: str, kind: str, name: str, **rest: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **rest}
