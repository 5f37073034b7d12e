"""Objects that our models can't read: said once where nothing is at stake, left alone where something is."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_operator.kube.kinds import CLASS, PROFILE, RUN, Kind
from skerry_testing.opworld import NAMESPACE, OpWorld


def odd(found: dict[str, Any]) -> None:
    found["spec"]["retries"] = "many"


async def test_a_run_that_never_began_is_told_with_the_fields_path_once() -> None:
    world = OpWorld()
    world.prepare()
    world.submit()
    world.kube.edit(RUN, NAMESPACE, "hello", odd)
    await world.start()
    await world.go(300)
    (ready, reconciling, stalled) = world.status()["conditions"]
    assert (stalled["type"], stalled["status"], stalled["reason"]) == ("Stalled", "True", "InvalidSpec")
    assert stalled["message"].startswith("spec.retries: ")
    assert (ready["status"], reconciling["status"], world.phase()) == ("False", "False", "Pending")
    assert world.writes() == ["status AgentRun"]


async def test_it_goes_on_once_it_can_be_read() -> None:
    world = OpWorld()
    world.prepare()
    world.submit()
    world.kube.edit(RUN, NAMESPACE, "hello", odd)
    await world.start()
    await world.settle()
    world.kube.edit(RUN, NAMESPACE, "hello", lambda found: found["spec"].update(retries=1))
    await world.settle()
    assert world.phase() == "Provisioning"


async def test_a_run_under_way_keeps_its_status_and_its_pod() -> None:
    world = OpWorld()
    world.prepare()
    await world.start()
    world.submit()
    await world.settle()
    world.kubelet_runs("hello-1")
    await world.settle()
    before, writes = world.status(), len(world.writes())
    world.kube.edit(RUN, NAMESPACE, "hello", odd)
    await world.go(120)
    assert world.status() == before
    assert len(world.writes()) == writes
    assert len(world.pods()) == 1


@pytest.mark.parametrize(
    ("kind", "name", "reason", "field"),
    [
        (PROFILE, "p", "ProfileUnreadable", "AgentProfile p: spec."),
        (CLASS, "default", "SandboxClassUnreadable", "SandboxClass default: spec."),
    ],
)
async def test_a_run_says_what_of_its_profile_or_class_cannot_be_read_and_goes_on_once_it_can(
    kind: Kind, name: str, reason: str, field: str
) -> None:
    world = OpWorld()
    world.prepare()
    found = world.kube.peek(kind, NAMESPACE, name)
    assert found is not None
    sound = found["spec"]
    world.kube.edit(kind, NAMESPACE, name, lambda found: found.update(spec={"tools": 1, "release": "Never"}))
    await world.start()
    world.submit()
    await world.go(30)
    (ready,) = [each for each in world.status()["conditions"] if each["type"] == "Ready"]
    assert (world.phase(), ready["status"], ready["reason"]) == ("Pending", "False", reason)
    assert field in ready["message"]
    world.kube.edit(kind, NAMESPACE, name, lambda found: found.update(spec=sound))
    await world.settle()
    assert world.phase() == "Provisioning"
    world.submit("late")
    world.kube.edit(kind, NAMESPACE, name, lambda found: found.update(spec={"tools": 1, "release": "Never"}))
    await world.go(700)
    assert world.phase("late") == "Failed"
    assert world.status("late")["failure"]["class"] == "InvalidSpec"
