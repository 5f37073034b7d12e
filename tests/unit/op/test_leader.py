"""Elections over a fake API server, by a clock that is turned by hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from skerry_operator.config import LeaseConfig
from skerry_operator.errors import Fenced, Unknown
from skerry_operator.kube.fence import FencedPort
from skerry_operator.kube.kinds import LEASE, POD
from skerry_operator.leader import Elector
from skerry_operator.lease import Terms
from skerry_testing.fakeclock import FakeClock
from skerry_testing.fakekube import FakeKube
from skerry_testing.faults import Call, Fault, Faults

LEASE_DEFAULTS = LeaseConfig()
TERMS = Terms(
    duration=LEASE_DEFAULTS.duration_seconds,
    renew=LEASE_DEFAULTS.renew_seconds,
    interval=LEASE_DEFAULTS.interval_seconds,
    retry=LEASE_DEFAULTS.retry_seconds,
)


def elector(kube: FakeKube, clock: FakeClock, identity: str) -> Elector:
    return Elector(
        kube, clock, namespace="ns", name="lease", identity=identity, terms=TERMS, random=lambda: 0.5
    )


@asynccontextmanager
async def running(*electors: Elector) -> AsyncIterator[list[asyncio.Task[None]]]:
    tasks = [asyncio.create_task(each.run()) for each in electors]
    try:
        yield tasks
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def holder(kube: FakeKube) -> str:
    found = kube.peek(LEASE, "ns", "lease")
    assert found is not None
    return str(found["spec"]["holderIdentity"])


async def test_one_of_many_leads_and_stays() -> None:
    clock = FakeClock()
    kube = FakeKube(clock)
    all_of_them = [elector(kube, clock, name) for name in "abc"]
    async with running(*all_of_them):
        for _ in range(60):
            await clock.advance(1)
            assert sum(each.leads() for each in all_of_them) == 1
    assert all_of_them[0].leads()


async def test_a_killed_leader_is_followed_after_its_lease_has_run_out_and_not_before() -> None:
    clock = FakeClock()
    kube = FakeKube(clock)
    first, second = elector(kube, clock, "a"), elector(kube, clock, "b")
    async with running(first) as tasks:
        await clock.advance(5)
        async with running(second):
            await clock.advance(5)
            tasks[0].cancel()
            while first.leads():
                await clock.advance(0.5)
                assert not (first.leads() and second.leads())
            assert not second.leads()
            await clock.advance(10)
            assert second.leads()
    assert holder(kube) == "b"


async def test_the_next_leader_is_there_within_twelve_seconds_of_a_kill() -> None:
    """15 s are the budget for all of it: what is left is for 1,000 runs to be looked at."""
    for moment in range(40):
        clock = FakeClock()
        kube = FakeKube(clock)
        first, second = elector(kube, clock, "a"), elector(kube, clock, "b")
        async with running(first) as tasks:
            await clock.advance(1)
            async with running(second):
                await clock.advance(5 + moment / 10)
                tasks[0].cancel()
                await clock.advance(TERMS.duration - TERMS.interval * 1.2 - 0.1)
                assert not second.leads(), "before the last renewal can have run out"
                await clock.advance(12 - (TERMS.duration - TERMS.interval * 1.2 - 0.1))
                assert second.leads()


@pytest.mark.parametrize("moment", [0.0, 0.7, 1.5, 2.3])
async def test_one_call_that_hangs_costs_no_leadership(moment: float) -> None:
    clock, faults = FakeClock(), Faults()
    kube = FakeKube(clock, faults)
    leader = elector(kube, clock, "a")
    async with running(leader):
        await clock.advance(4 + moment)
        hung: list[Call] = []

        def hang_one(call: Call) -> Fault | None:
            hung.append(call)
            return Fault.HANG if len(hung) == 1 else None

        faults.every = hang_one
        for _ in range(100):
            await clock.advance(0.1)
            assert leader.leads()
        assert len(hung) > 1


async def test_a_write_of_the_last_moment_has_ended_before_another_leads() -> None:
    clock, faults = FakeClock(), Faults()
    kube = FakeKube(clock, faults)
    first, second = elector(kube, clock, "a"), elector(kube, clock, "b")
    fenced = FencedPort(kube, first.patience, clock)
    async with running(first) as tasks, running(second):
        await clock.advance(5)
        tasks[0].cancel()
        while first.leads():
            await clock.advance(0.05)
            if 0 < first.patience() < TERMS.duration - TERMS.renew + 0.1:
                break
        faults.every = lambda call: Fault.HANG if call.kind == "Pod" else None
        write = asyncio.ensure_future(
            fenced.create(POD, "ns", {"metadata": {"name": "x", "namespace": "ns"}})
        )
        while not second.leads():
            await clock.advance(0.05)
        with pytest.raises(Unknown):
            write.result()


async def test_a_restart_under_the_same_identity_leads_at_once() -> None:
    clock = FakeClock()
    kube = FakeKube(clock)
    async with running(elector(kube, clock, "pod_uid")):
        await clock.advance(3)
    again = elector(kube, clock, "pod_uid")
    async with running(again):
        await clock.advance(0)
        assert again.leads()


async def test_a_released_lease_is_taken_at_the_next_look() -> None:
    clock = FakeClock()
    kube = FakeKube(clock)
    first, second = elector(kube, clock, "a"), elector(kube, clock, "b")
    async with running(first) as tasks, running(second):
        await clock.advance(5)
        tasks[0].cancel()
        await first.release()
        assert not first.leads()
        await asyncio.wait_for(first.wait_lost(), 5)
        await clock.advance(2.5)
        assert second.leads()


async def test_a_hung_api_ends_leadership_in_time_and_nothing_is_written_afterwards() -> None:
    clock, faults = FakeClock(), Faults()
    kube = FakeKube(clock, faults)
    leader = elector(kube, clock, "a")
    fenced = FencedPort(kube, leader.patience, clock)
    async with running(leader):
        await clock.advance(5)
        assert leader.leads()
        faults.every = lambda _call: Fault.HANG
        await clock.advance(10)
        assert not leader.leads()
        await asyncio.wait_for(leader.wait_lost(), 5)
        with pytest.raises(Fenced):
            await fenced.create(POD, "ns", {"metadata": {"name": "x", "namespace": "ns"}})
        faults.every = lambda _call: None
        await clock.advance(8)
        assert leader.leads(), "nobody else took it: it leads again"


async def test_a_process_that_was_paused_is_fenced_before_it_notices() -> None:
    clock = FakeClock()
    kube = FakeKube(clock)
    leader = elector(kube, clock, "a")
    async with running(leader):
        await clock.advance(5)
        clock.pause(60)
        assert not leader.leads()
        with pytest.raises(Fenced):
            await FencedPort(kube, leader.patience, clock).delete(POD, "ns", "x", uid="u")


async def test_a_paused_leader_whose_lease_was_taken_yields() -> None:
    clock = FakeClock()
    kube = FakeKube(clock)
    first, second = elector(kube, clock, "a"), elector(kube, clock, "b")
    async with running(first) as tasks:
        await clock.advance(5)
        tasks[0].cancel()
        async with running(second):
            await clock.advance(20)
            assert second.leads()
            async with running(first):
                await clock.advance(30)
                assert not first.leads()
                assert second.leads()


async def test_a_renewal_whose_answer_was_lost_is_known_as_ours() -> None:
    clock, faults = FakeClock(), Faults()
    kube = FakeKube(clock, faults)
    leader = elector(kube, clock, "a")
    async with running(leader):
        await clock.advance(5)
        lost = [0]

        def lose_one(call: Call) -> Fault | None:
            if call.verb == "update" and not lost[0]:
                lost[0] = 1
                return Fault.LOSE_REPLY
            return None

        faults.every = lose_one
        for _ in range(30):
            await clock.advance(1)
            assert leader.leads()
        assert lost == [1]


async def test_a_few_failures_do_not_end_leadership() -> None:
    clock, faults = FakeClock(), Faults()
    kube = FakeKube(clock, faults)
    leader = elector(kube, clock, "a")
    async with running(leader):
        await clock.advance(5)
        faults.every = lambda _call: Fault.FAIL
        await clock.advance(3)
        assert leader.leads()
        faults.every = lambda _call: None
        await clock.advance(3)
        assert leader.leads()


async def test_the_wall_clock_does_not_matter() -> None:
    clock = FakeClock()
    kube = FakeKube(clock)
    first = elector(kube, clock, "a")
    async with running(first):
        await clock.advance(3)
    kube.edit(
        LEASE, "ns", "lease", lambda found: found["spec"].update(renewTime="2001-01-01T00:00:00.000000Z")
    )
    second = elector(kube, clock, "b")
    async with running(second):
        await clock.advance(TERMS.duration - 0.1)
        assert not second.leads()
        await clock.advance(1)
        assert second.leads()


async def test_a_deleted_lease_is_made_anew() -> None:
    clock = FakeClock()
    kube = FakeKube(clock)
    leader = elector(kube, clock, "a")
    async with running(leader):
        await clock.advance(5)
        kube.remove(LEASE, "ns", "lease")
        await clock.advance(20)
        assert leader.leads()
    assert holder(kube) == "a"
