"""Runs that wait for a ConfigMap: they hold up nobody, and start by themselves once it is there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from skerry_operator.kube.kinds import CONFIG_MAP
from skerry_testing.opworld import OpWorld, placed

SKILLS = [{"name": "forms", "configMapRef": {"name": "skill-forms"}}]
FILES = {"files": [{"name": "a.txt", "configMapKeyRef": {"name": "late", "key": "a"}}]}


def ready(world: OpWorld, name: str = "hello") -> str:
    conditions = world.status(name)["conditions"]
    return next(str(each["reason"]) for each in conditions if each["type"] == "Ready")


def brought(world: OpWorld, name: str, **data: str) -> None:
    meta: dict[str, Any] = {"name": name}
    world.kube.add(
        CONFIG_MAP, placed({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data})
    )


async def test_a_run_alone_in_its_namespace_starts_when_the_config_map_comes() -> None:
    world = OpWorld()
    world.prepare(skills=SKILLS)
    await world.start()
    world.submit()
    await world.go(10)
    assert (world.phase(), ready(world)) == ("Pending", "ConfigMapNotFound")
    brought(world, "skill-forms", **{"SKILL.md": "Do it."})
    await world.go(20)
    assert world.phase() == "Provisioning"
    assert len(world.pods()) == 1


async def test_a_run_found_wanting_gives_its_place_to_the_next() -> None:
    world = OpWorld()
    world.settings = replace(world.settings, max_runs_per_namespace=1)
    world.prepare()
    await world.start()
    world.submit("first", **FILES)
    world.submit("second")
    await world.go(1)
    assert ready(world, "first") == "ConfigMapNotFound"
    assert world.phase("second") == "Provisioning"
    brought(world, "late", a="text")
    await world.go(20)
    assert (world.phase("first"), ready(world, "first")) == ("Queued", "NamespaceLimit")
    assert [pod["metadata"]["name"] for pod in world.pods()] == ["second-1"]
