"""A term begins with what the cache knows, whatever was left undone before."""

from __future__ import annotations

import asyncio

from skerry_api.names import sandbox_id
from skerry_operator.errors import Fenced
from skerry_operator.keys import Key, Topic
from skerry_operator.kube.kinds import RUN
from skerry_operator.reconcile.term import all_keys, live_keys
from skerry_testing.fakeclock import settle
from skerry_testing.faults import Call
from skerry_testing.opworld import NAMESPACE, OpWorld


async def asking(world: OpWorld) -> str:
    """A run that has just asked for its sandbox; the operator has not looked at it yet."""
    world.prepare()
    await world.start()
    world.submit(threadId="t1")
    await world.settle()
    world.kubelet_runs("hello-1")
    await world.settle()
    world.ask_for_sandbox()
    return sandbox_id(NAMESPACE, "default", "t1")


async def test_keys_cover_runs_their_queue_and_sandboxes_that_do_not_exist_yet() -> None:
    world = OpWorld()
    box = await asking(world)
    expected = {
        Key(Topic.RUN, NAMESPACE, "hello"),
        Key(Topic.SANDBOX, NAMESPACE, box),
        Key(Topic.QUEUE, NAMESPACE, ""),
    }
    assert set(all_keys(world.store)) == expected
    assert set(live_keys(world.store)) == expected


async def test_runs_that_are_over_are_looked_at_once_but_not_again() -> None:
    world = OpWorld()
    await asking(world)
    await world.settle()
    world.report_end()
    await world.settle()
    world.kubelet_ends("hello-1")
    await world.settle()
    world.kubelet_removes("hello-1")
    await world.settle()
    key = Key(Topic.RUN, NAMESPACE, "hello")
    assert key in set(all_keys(world.store))
    assert key not in set(live_keys(world.store))


async def test_a_pod_whose_run_is_gone_still_has_a_key() -> None:
    world = OpWorld()
    await asking(world)
    world.dead = True  # nobody hears of the deletion
    world.kube.remove(RUN, NAMESPACE, "hello")
    await world.restart()
    assert Key(Topic.RUN, NAMESPACE, "hello") in set(live_keys(world.store))


async def test_what_one_term_was_fenced_from_the_next_does() -> None:
    """The cache is warm and nothing new happens: a term must not wait for events."""
    world = OpWorld()
    box = await asking(world)
    fenced = [True]

    def refuse(call: Call, _body: object) -> Exception | None:
        return Fenced("not the leader") if fenced[0] and call.writes else None

    world.kube.refuse(refuse)
    await world.settle()
    assert world.pods("sandbox") == []
    world.next_term()
    fenced[0] = False
    await world.settle()
    assert [pod["metadata"]["name"] for pod in world.pods("sandbox")] == [box]


async def test_a_cancelled_term_lets_passes_end_and_takes_no_more() -> None:
    world = OpWorld()
    world.prepare()
    await world.resync.prime()
    assert world.term is not None
    term = asyncio.create_task(world.term.run())
    world.submit()
    await settle()
    assert world.phase() == "Provisioning"
    term.cancel()
    await asyncio.wait({term})
    assert term.cancelled()
    world.kubelet_runs("hello-1")
    await settle()
    assert world.phase() == "Provisioning", "its queue is closed"
