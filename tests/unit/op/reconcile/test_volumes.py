"""Volumes of threads through the whole loop: made before the Pod, shared by runs, swept in their time."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_api.names import sandbox_id, state_volume_name
from skerry_operator.errors import Forbidden
from skerry_operator.kube.kinds import RUN, VOLUME, Raw
from skerry_testing.faults import Call
from skerry_testing.opworld import NAMESPACE, OpWorld

Json = dict[str, Any]
NAME = state_volume_name(sandbox_id(NAMESPACE, "default", "t1"))
RETENTION = 3600


@pytest.fixture
async def world() -> OpWorld:
    world = OpWorld()
    world.prepare(persistence={"type": "Volume", "volume": {"retentionSeconds": RETENTION}})
    await world.start()
    return world


def volume(world: OpWorld) -> Json | None:
    return world.kube.peek(VOLUME, NAMESPACE, NAME)


def notes(world: OpWorld) -> Json:
    found = volume(world)
    assert found is not None
    return dict(found["metadata"]["annotations"])


async def through(world: OpWorld, name: str) -> None:
    """A run of the thread from its start to its end."""
    world.submit(name, threadId="t1")
    await world.settle()
    world.kubelet_runs(f"{name}-1")
    await world.settle()
    world.report_end(name=name)
    await world.settle()
    world.kubelet_ends(f"{name}-1")
    await world.settle()


async def test_a_run_gets_the_volume_of_its_thread_and_leaves_it(world: OpWorld) -> None:
    await through(world, "one")
    assert world.writes()[:2] == ["apply PersistentVolumeClaim", "create Pod"]
    first = volume(world)
    assert first is not None
    assert "ownerReferences" not in first["metadata"]
    await through(world, "two")
    second = volume(world)
    assert second is not None
    assert second["metadata"]["uid"] == first["metadata"]["uid"]
    (mounted,) = {
        each["persistentVolumeClaim"]["claimName"]
        for pod in world.pods()
        for each in pod["spec"]["volumes"]
        if "persistentVolumeClaim" in each
    }
    assert mounted == NAME


async def test_it_goes_when_its_retention_is_over_and_not_before(world: OpWorld) -> None:
    await through(world, "one")
    await world.compare()
    assert "skerry.dev/unused-since" in notes(world)
    await world.go(RETENTION - 60)
    assert volume(world) is not None
    await world.go(120)
    assert volume(world) is None


async def test_a_run_in_between_begins_its_time_anew(world: OpWorld) -> None:
    await through(world, "one")
    await world.compare()
    await world.go(RETENTION - 60)
    world.submit("two", threadId="t1")
    await world.settle()
    assert "skerry.dev/unused-since" not in notes(world)
    await world.go(300)
    assert volume(world) is not None


async def test_a_thread_whose_volume_goes_gets_a_new_one(world: OpWorld) -> None:
    await through(world, "one")

    def going(found: Json) -> None:
        found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"

    world.kube.edit(VOLUME, NAMESPACE, NAME, going)
    world.submit("two", threadId="t1")
    await world.settle()
    assert [pod["metadata"]["name"] for pod in world.pods()] == ["one-1"]
    assert NAME in str(world.status("two")["conditions"])
    world.kube.remove(VOLUME, NAMESPACE, NAME)
    await world.go(10)
    assert "two-1" in [pod["metadata"]["name"] for pod in world.pods()]
    assert volume(world) is not None


async def test_a_run_whose_volume_goes_while_it_awaits_an_answer_says_so_and_does_not_begin_anew(
    world: OpWorld,
) -> None:
    world.submit("one", threadId="t1")
    await world.settle()
    world.kubelet_runs("one-1")
    await world.settle()
    question = {"id": "q-1", "type": "MissingInfo", "text": "Which?"}
    world.report_end("one", "AwaitingInput", question=question, progress={"turn": 1, "toolCalls": 1})
    await world.settle()
    world.kubelet_ends("one-1")
    await world.settle()
    assert world.phase("one") == "AwaitingInput"
    world.kube.remove(VOLUME, NAMESPACE, NAME)
    answers = [{"questionId": "q-1", "text": "yes"}]
    world.kube.edit(RUN, NAMESPACE, "one", lambda found: found["spec"].update(answers=answers))
    await world.settle()
    failure = world.status("one")["failure"]
    assert (world.phase("one"), failure["class"]) == ("Failed", "AppError")
    assert f"StateGone: PersistentVolumeClaim {NAME} is gone" in failure["message"]
    assert world.pods() == []
    assert volume(world) is None, "nothing was made in its place"


async def test_a_no_to_the_volume_is_the_runs_reason(world: OpWorld) -> None:
    def refuse(call: Call, _body: Raw) -> Exception | None:
        return Forbidden("exceeded quota: storage") if call.kind == VOLUME.name and call.writes else None

    world.kube.refuse(refuse)
    world.submit("one", threadId="t1")
    await world.settle()
    assert world.pods() == []
    assert "exceeded quota: storage" in str(world.status("one")["conditions"])


async def test_the_volume_of_a_run_without_a_thread_goes_with_the_run(world: OpWorld) -> None:
    made = world.submit("alone")
    await world.settle()
    (found,) = world.kube.all(VOLUME, NAMESPACE)
    assert [owner["uid"] for owner in found["metadata"]["ownerReferences"]] == [made["metadata"]["uid"]]
