"""Whole runs through the loop, with every write counted."""

from __future__ import annotations

from typing import Any

from skerry_api.grants import verify_grant
from skerry_api.keys import KeySet
from skerry_api.names import sandbox_id
from skerry_operator.kube.kinds import POD, RUN
from skerry_testing.manifests import a_class
from skerry_testing.opworld import NAMESPACE, OpWorld


async def begun(world: OpWorld, **spec: Any) -> None:
    world.prepare()
    await world.start()
    world.submit(**spec)
    await world.settle()


async def test_a_run_without_a_sandbox_takes_four_writes() -> None:
    world = OpWorld()
    await begun(world)
    assert world.phase() == "Provisioning"
    world.kubelet_runs("hello-1")
    await world.settle()
    assert world.phase() == "Running"
    world.report(progress={"turn": 1, "modelCalls": 1, "toolCalls": 0})
    world.report_end(stopReason="EndTurn", answer="42")
    await world.settle()
    world.kubelet_ends("hello-1")
    await world.go(60)
    status = world.status()
    assert (status["phase"], status["epoch"], status["attempts"]) == ("Succeeded", 1, 1)
    assert status["runner"]["answer"] == "42"
    assert world.sandbox() is None
    assert world.writes() == ["create Pod", "status AgentRun", "status AgentRun", "status AgentRun"]
    assert len(world.pods()) == 1, "kept for its logs"
    await world.go(3700)
    assert world.pods() == []


async def test_a_run_with_a_sandbox_stays_within_ten_writes_and_parks_it() -> None:
    world = OpWorld()
    await begun(world, threadId="t1")
    world.kubelet_runs("hello-1")
    await world.settle()
    key = world.ask_for_sandbox()
    await world.settle()
    name = sandbox_id(NAMESPACE, "default", "t1")
    (pod,) = world.pods("sandbox")
    assert pod["metadata"]["name"] == name
    world.kubelet_runs(name, ip="198.18.0.77")
    await world.settle()
    use = world.status()["sandbox"]
    assert (use["name"], use["state"], use["podUID"], use["endpoint"]) == (
        name, "Ready", pod["metadata"]["uid"], "http://198.18.0.77:8090",
    )  # fmt: skip
    keys = KeySet.from_jwks(world.keys.jwks)
    grant = verify_grant(use["grant"], keys, now=int(world.clock.now().timestamp()))
    assert (grant.pod_uid, grant.cnf.jkt, grant.epoch) == (pod["metadata"]["uid"], key.public.thumbprint, 1)
    world.report(sandboxId=name, progress={"turn": 1, "modelCalls": 1, "toolCalls": 1})
    world.report_end(stopReason="EndTurn")
    await world.settle()
    world.kubelet_ends("hello-1")
    await world.go(1)
    sandbox = world.sandbox()
    assert sandbox is not None
    assert sandbox["status"]["phase"] == "Parked"
    assert "holder" not in sandbox["status"]
    status = world.status()
    assert (status["phase"], status["sandboxId"], status["sandbox"]["state"]) == (
        "Succeeded",
        name,
        "Released",
    )
    budget = [write for write in world.writes() if "NetworkPolicy" not in write]
    assert len(budget) <= 10, budget
    before = len(world.writes())
    await world.go(500)
    assert len(world.writes()) == before, "idle costs no writes"
    await world.go(200)
    assert world.sandbox() is None
    world.kube.collect_garbage()
    (pod,) = world.pods("sandbox")
    assert "deletionTimestamp" in pod["metadata"], "its node ends it now"
    assert world.probe.asked, "asked once before it goes"
    assert len(world.probe.asked) == 1


async def test_destroy_leaves_nothing() -> None:
    world = OpWorld()
    world.prepare(a_class("default", release="Destroy"))
    await world.start()
    world.submit(threadId="t1")
    await world.settle()
    world.kubelet_runs("hello-1")
    await world.settle()
    world.ask_for_sandbox()
    await world.settle()
    world.kubelet_runs(sandbox_id(NAMESPACE, "default", "t1"))
    await world.settle()
    assert world.status()["sandbox"]["state"] == "Ready"
    world.report_end()
    await world.go(5)
    assert world.sandbox() is None


async def test_an_eager_run_starts_both_side_by_side() -> None:
    world = OpWorld()
    await begun(world, sandbox={"acquire": "Eager"})
    assert len(world.pods("runner")) == 1
    assert len(world.pods("sandbox")) == 1


async def test_every_status_of_a_run_says_its_generation_and_events_come_with_transitions() -> None:
    world = OpWorld()
    await begun(world)
    assert world.status()["observedGeneration"] == 1
    world.kubelet_runs("hello-1")
    await world.settle()
    world.report_end()
    await world.settle()
    told = world.events_told()
    reasons = [event["reason"] for event in told]
    assert reasons == ["Started", "Running", "Succeeded"]
    assert {event["involvedObject"]["uid"] for event in told} == {world.run()["metadata"]["uid"]}
    assert len({event["metadata"]["name"] for event in told}) == 3


async def test_a_deleted_run_leaves_no_runner_pod_even_without_a_garbage_collector() -> None:
    world = OpWorld()
    await begun(world)
    world.kubelet_runs("hello-1")
    await world.settle()
    world.kube.remove(RUN, NAMESPACE, "hello")
    await world.go(30)
    (pod,) = world.pods()
    assert "deletionTimestamp" in pod["metadata"]
    world.kubelet_removes("hello-1")
    await world.go(30)
    assert world.kube.all(POD) == ()
