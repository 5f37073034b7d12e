"""Sandboxes through the loop: replaced, shared by a thread, asked whether they are idle, swept."""

from __future__ import annotations

from skerry_api.grants import verify_grant
from skerry_api.keys import KeySet
from skerry_api.names import sandbox_id
from skerry_operator.errors import Forbidden
from skerry_operator.kube.kinds import RUN, SANDBOX
from skerry_testing.manifests import a_sandbox
from skerry_testing.opworld import NAMESPACE, OpWorld, placed

BOX = sandbox_id(NAMESPACE, "default", "t1")


async def ready(world: OpWorld, name: str = "hello") -> None:
    """A run of thread t1 that holds its ready sandbox."""
    world.submit(name, threadId="t1")
    await world.settle()
    world.kubelet_runs(f"{name}-1")
    await world.settle()
    world.ask_for_sandbox(name)
    await world.settle()
    if not world.status(name).get("sandbox", {}).get("grant"):
        world.kubelet_runs(BOX)
        await world.settle()
    assert world.status(name)["sandbox"]["state"] == "Ready"


async def finish(world: OpWorld, name: str = "hello") -> None:
    world.report_end(name)
    await world.settle()
    world.kubelet_ends(f"{name}-1")
    await world.settle()


async def make() -> OpWorld:
    world = OpWorld()
    world.prepare()
    await world.start()
    return world


async def test_a_sandbox_that_may_not_be_made_shows_on_the_run_until_it_may() -> None:
    world = await make()
    world.submit(threadId="t1")
    await world.settle()
    world.kubelet_runs("hello-1")
    await world.settle()
    full = [True]
    quota = Forbidden("exceeded quota: sandboxes")
    world.kube.refuse(
        lambda call, _: quota if full[0] and (call.verb, call.kind) == ("create", "Sandbox") else None
    )
    world.ask_for_sandbox()
    await world.settle()
    assert world.kube.peek(SANDBOX, NAMESPACE, BOX) is None
    ready = next(each for each in world.status()["conditions"] if each["type"] == "Ready")
    assert ready["message"].endswith("its sandbox is refused: exceeded quota: sandboxes")
    versions = world.run()["metadata"]["resourceVersion"]
    await world.go(300)
    assert world.run()["metadata"]["resourceVersion"] == versions, "said once, however often it is tried"
    full[0] = False
    await world.go(60)
    ready = next(each for each in world.status()["conditions"] if each["type"] == "Ready")
    assert "refused" not in ready["message"]
    assert world.kube.peek(SANDBOX, NAMESPACE, BOX) is not None


async def test_a_lost_pod_is_replaced_under_the_same_id_with_a_new_grant() -> None:
    world = await make()
    await ready(world)
    before = world.status()["sandbox"]
    world.kubelet_removes(BOX)
    await world.settle()
    assert world.status()["sandbox"]["state"] == "Replacing"
    assert "grant" not in world.status()["sandbox"]
    world.kubelet_runs(BOX, ip="198.18.0.55")
    await world.settle()
    after = world.status()["sandbox"]
    assert (after["name"], after["state"], after["replacements"]) == (BOX, "Ready", 1)
    assert after["podUID"] != before["podUID"]
    assert after["endpoint"] == "http://198.18.0.55:8090"
    grant = verify_grant(
        after["grant"], KeySet.from_jwks(world.keys.jwks), now=int(world.clock.now().timestamp())
    )
    assert grant.pod_uid == after["podUID"]
    assert (world.phase(), world.status()["epoch"]) == ("Running", 1), "the run goes on"


async def test_after_too_many_replacements_the_run_has_lost_its_sandbox() -> None:
    world = await make()
    await ready(world)
    for _ in range(world.settings.max_replacements):
        world.kubelet_removes(BOX)
        await world.settle()
        world.kubelet_runs(BOX)
        await world.settle()
    world.kubelet_removes(BOX)
    await world.go(5)
    assert (world.phase(), world.status()["failure"]["class"]) == ("Failed", "SandboxLost")


async def test_the_next_run_of_the_thread_takes_the_parked_pod_over() -> None:
    world = await make()
    await ready(world, "first")
    await finish(world, "first")
    (pod,) = world.pods("sandbox")
    await world.go(100)
    await ready(world, "second")
    assert world.status("second")["sandbox"]["podUID"] == pod["metadata"]["uid"]
    sandbox = world.sandbox()
    assert sandbox is not None
    assert sandbox["status"]["holder"]["name"] == "second"
    assert "idleSince" not in sandbox["status"]
    await world.go(700)
    assert len(world.pods("sandbox")) == 1, "held sandboxes do not expire"


async def test_use_by_a_person_extends_once_and_silence_ends_it() -> None:
    world = await make()
    await ready(world)
    await finish(world)
    world.probe.idle[BOX] = 100.0
    await world.go(650)
    sandbox = world.sandbox()
    assert sandbox is not None
    assert sandbox["status"]["phase"] == "Parked", "used 100 s before it was asked"
    assert len(world.probe.asked) == 1
    world.probe.idle[BOX] = 600.0
    await world.go(600)
    assert world.sandbox() is None
    assert len(world.probe.asked) == 2


async def test_one_that_cannot_be_asked_is_kept_for_a_while_and_not_for_ever() -> None:
    world = await make()
    await ready(world)
    await finish(world)
    world.probe.idle[BOX] = None
    await world.go(660)
    assert world.sandbox() is not None, "unknown is not idle"
    await world.go(200)
    assert world.sandbox() is None


async def test_a_restart_does_not_reset_the_idle_clock() -> None:
    world = await make()
    await ready(world)
    await finish(world)
    await world.go(500)
    world.kill()
    await world.restart()
    await world.go(110)
    assert world.sandbox() is None


async def test_a_sandbox_of_a_run_without_thread_goes_with_its_end() -> None:
    world = await make()
    run = world.submit()
    box = sandbox_id(NAMESPACE, "default", run["metadata"]["uid"])
    await world.settle()
    world.kubelet_runs("hello-1")
    await world.settle()
    world.ask_for_sandbox()
    await world.settle()
    world.kubelet_runs(box)
    await world.settle()
    await finish(world)
    await world.go(5)
    assert world.sandbox() is None


async def test_a_persons_sandbox_is_made_ready_and_never_given_to_a_run() -> None:
    world = await make()
    world.kube.add(SANDBOX, placed(a_sandbox("mine", threadId="t1")))
    await world.settle()
    (pod,) = world.pods("sandbox")
    assert pod["metadata"]["name"] == "mine"
    world.kubelet_runs("mine")
    await world.settle()
    found = world.kube.peek(SANDBOX, NAMESPACE, "mine")
    assert found is not None
    assert found["status"]["phase"] == "Ready"
    world.submit(threadId="t1")
    await world.settle()
    world.kubelet_runs("hello-1")
    await world.settle()
    world.ask_for_sandbox()
    await world.settle()
    assert sorted(pod["metadata"]["name"] for pod in world.pods("sandbox")) == sorted(["mine", BOX])


async def test_deleting_a_run_in_mid_use_releases_its_thread() -> None:
    world = await make()
    await ready(world)
    world.kube.remove(RUN, NAMESPACE, "hello")
    await world.go(5)
    sandbox = world.sandbox()
    assert sandbox is not None
    assert sandbox["status"]["phase"] == "Parked"
    await world.go(700)
    assert world.sandbox() is None


async def test_a_network_policy_stands_before_the_first_pod_of_its_class() -> None:
    world = await make()
    await ready(world)
    kinds = [str(call) for call in world.kube.faults.writes()]
    policy = next(index for index, call in enumerate(kinds) if "NetworkPolicy" in call)
    pod = kinds.index(f"create Pod {NAMESPACE}/{BOX}")
    assert policy < pod
    assert sum("NetworkPolicy" in call for call in kinds) == 1
