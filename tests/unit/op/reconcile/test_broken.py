"""Objects that our models can't read: said once where nothing is at stake, left alone where something is."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_operator.kube.kinds import CLASS, POD, PROFILE, RUN, SANDBOX, Kind
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


async def used(world: OpWorld) -> str:
    """A run that uses its sandbox, whose Pod is there and Ready; gives the Sandbox's name."""
    world.prepare()
    await world.start()
    world.submit()
    await world.settle()
    world.kubelet_runs("hello-1")
    await world.settle()
    world.ask_for_sandbox()
    await world.settle()
    (pod,) = world.pods("sandbox")
    world.kubelet_runs(pod["metadata"]["name"])
    await world.settle()
    return str(pod["metadata"]["name"])


def told(of: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["type"]: each for each in of["status"]["conditions"]}


def the_sandbox(world: OpWorld) -> dict[str, Any]:
    found = world.sandbox()
    assert found is not None
    return found


async def test_a_sandbox_in_use_says_what_cannot_be_read_and_loses_nothing() -> None:
    world = OpWorld()
    name = await used(world)
    before, given = the_sandbox(world)["status"], world.status()["sandbox"]
    world.kube.edit(SANDBOX, NAMESPACE, name, lambda found: found["spec"].update(idleSeconds="long"))
    await world.settle()
    told_once = len(world.writes())
    await world.go(300)
    await world.compare()
    assert len(world.writes()) == told_once, "said once"
    found = the_sandbox(world)
    stalled = told(found)["Stalled"]
    assert (stalled["status"], stalled["reason"]) == ("True", "InvalidSpec")
    assert stalled["message"].startswith("spec.idleSeconds: ")
    assert told(found)["Ready"]["status"] == "True"
    ours = {"conditions", "observedGeneration"}
    assert {key: value for key, value in found["status"].items() if key not in ours} == {
        key: value for key, value in before.items() if key not in ours
    }
    assert world.status()["sandbox"] == given, "its runner goes on with the grant that it has"
    (ready,) = [each for each in world.status()["conditions"] if each["type"] == "Ready"]
    assert (world.phase(), ready["status"]) == ("Running", "True")
    assert f"its sandbox can't be read: Sandbox {name}: spec.idleSeconds: " in ready["message"]
    assert len(world.pods("sandbox")) == 1


async def test_a_sandbox_that_can_be_read_again_is_as_before() -> None:
    world = OpWorld()
    name = await used(world)
    world.kube.edit(SANDBOX, NAMESPACE, name, lambda found: found["spec"].update(idleSeconds="long"))
    await world.settle()
    world.kube.edit(SANDBOX, NAMESPACE, name, lambda found: found["spec"].update(idleSeconds=60))
    await world.settle()
    assert told(the_sandbox(world))["Stalled"]["status"] == "False"
    (ready,) = [each for each in world.status()["conditions"] if each["type"] == "Ready"]
    assert "can't be read" not in ready["message"]


async def test_a_run_waits_for_a_sandbox_that_cannot_be_read_and_says_so() -> None:
    world = OpWorld()
    world.prepare()
    await world.start()
    world.submit()
    await world.settle()
    world.kubelet_runs("hello-1")
    world.deaf = True  # the watch is behind: the Sandbox is known from our own writes alone
    await world.settle()
    world.ask_for_sandbox()
    world.deaf = False
    await world.compare()
    name = the_sandbox(world)["metadata"]["name"]

    def other_version(found: dict[str, Any]) -> None:
        found["spec"]["threadId"] = 7
        found.pop("status", None)

    world.kube.edit(SANDBOX, NAMESPACE, name, other_version)
    await world.settle()
    found = told(the_sandbox(world))
    assert the_sandbox(world)["status"]["phase"] == "Pending"
    assert (found["Ready"]["status"], found["Stalled"]["status"]) == ("False", "True")
    (ready,) = [each for each in world.status()["conditions"] if each["type"] == "Ready"]
    assert f"Sandbox {name}: spec.threadId: " in ready["message"]


async def test_pods_of_objects_that_a_live_read_finds_unreadable_are_not_swept() -> None:
    world = OpWorld()
    name = await used(world)
    world.deaf = True
    world.kube.edit(SANDBOX, NAMESPACE, name, lambda found: found["spec"].update(idleSeconds="long"))
    world.kube.edit(RUN, NAMESPACE, "hello", odd)
    # An end that only the cache knows of asks for live reads of both.
    world.kubelet_ends("hello-1", 1)
    world.kubelet_ends(name, 1)
    world.deaf = False
    for each in world.kube.all(POD, NAMESPACE):
        world.store.put(POD, each)
    await world.go(120)
    assert len(world.pods()) == len(world.pods("sandbox")) == 1
    assert told(the_sandbox(world))["Stalled"]["reason"] == "InvalidSpec"
