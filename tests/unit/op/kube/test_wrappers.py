"""The ports around the port: retries of what may be repeated, the fence, the counts."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from typing_extensions import override

from skerry_operator.errors import Fenced, Unknown
from skerry_operator.kube.fence import FencedPort
from skerry_operator.kube.kinds import LEASE, POD, RUN, Raw
from skerry_operator.kube.metered import MeteredPort
from skerry_operator.kube.port import KubePort
from skerry_operator.kube.retry import RetryingPort
from skerry_operator.metrics import Metrics
from skerry_testing.fakeclock import FakeClock
from skerry_testing.fakekube import FakeKube
from skerry_testing.faults import Fault, Faults

Slept = list[float]
BODY = {"metadata": {"name": "a", "namespace": "ns"}}


async def no_wait(_seconds: float) -> None:
    return


def make(**at: Fault) -> FakeKube:
    return FakeKube(
        FakeClock(), Faults(at={int(number.removeprefix("n")): fault for number, fault in at.items()})
    )


READS_AND_REPEATABLE: list[Callable[[KubePort], Awaitable[object]]] = [
    lambda port: port.get(POD, "ns", "a"),
    lambda port: port.list(POD, "ns"),
    lambda port: port.apply(POD, "ns", "a", BODY),
    lambda port: port.delete(POD, "ns", "a", uid="uid-1"),
]
WRITES: list[Callable[[KubePort], Awaitable[object]]] = [
    lambda port: port.create(POD, "ns", BODY),
    lambda port: port.replace(LEASE, "ns", "a", BODY),
    lambda port: port.apply(POD, "ns", "a", BODY),
    lambda port: port.apply_status(RUN, "ns", "a", {}, resource_version="1"),
    lambda port: port.delete(POD, "ns", "a", uid="uid-1"),
]


@pytest.mark.parametrize("call", READS_AND_REPEATABLE)
async def test_what_may_be_done_twice_is_tried_three_times(
    call: Callable[[KubePort], Awaitable[object]],
) -> None:
    kube = make(n0=Fault.FAIL, n1=Fault.LOSE_REPLY)
    await call(RetryingPort(kube, sleep=no_wait))
    assert len(kube.faults.calls) == 3
    dead = make(n0=Fault.FAIL, n1=Fault.FAIL, n2=Fault.FAIL)
    with pytest.raises(Unknown):
        await call(RetryingPort(dead, sleep=no_wait))
    assert len(dead.faults.calls) == 3


@pytest.mark.parametrize("fault", [Fault.FAIL, Fault.LOSE_REPLY])
async def test_a_create_is_never_repeated(fault: Fault) -> None:
    kube = make(n0=fault)
    with pytest.raises(Unknown):
        await RetryingPort(kube, sleep=no_wait).create(POD, "ns", BODY)
    assert len(kube.faults.calls) == 1


async def test_the_servers_wish_is_kept_within_bounds() -> None:
    waits: Slept = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    class Busy(FakeKube):
        @override
        async def get(self, *_: object) -> Raw | None:
            raise Unknown("busy", retry_after=2.0 if not waits else 900.0)

    with pytest.raises(Unknown):
        await RetryingPort(Busy(FakeClock()), sleep=sleep).get(POD, "ns", "a")
    assert waits == [2.0, 5.0]


@pytest.mark.parametrize("call", WRITES)
async def test_the_fence_lets_no_write_through(call: Callable[[KubePort], Awaitable[object]]) -> None:
    kube = make()
    with pytest.raises(Fenced):
        await call(FencedPort(kube, lambda: 0.0, FakeClock()))
    assert kube.faults.calls == []


async def test_the_fence_is_asked_at_each_try_and_lets_reads_through() -> None:
    patience = [3.0, 0.0]
    kube = make(n0=Fault.FAIL)
    port = RetryingPort(FencedPort(kube, lambda: patience.pop(0), FakeClock()), sleep=no_wait)
    with pytest.raises(Fenced):
        await port.apply(POD, "ns", "a", BODY)
    assert [call.verb for call in kube.faults.calls] == ["apply"]
    assert await FencedPort(kube, lambda: 0.0, FakeClock()).get(POD, "ns", "a") is None


@pytest.mark.parametrize("call", WRITES)
async def test_a_write_is_given_up_when_another_process_may_lead(
    call: Callable[[KubePort], Awaitable[object]],
) -> None:
    clock, kube = FakeClock(), make(n0=Fault.HANG)
    write = asyncio.ensure_future(call(FencedPort(kube, lambda: 3.0, clock)))
    await clock.advance(2.9)
    assert not write.done()
    await clock.advance(0.2)
    with pytest.raises(Unknown, match="sure to lead"):
        await write
    assert len(kube.faults.calls) == 1


async def test_every_call_is_counted_by_verb_kind_and_result() -> None:
    metrics, kube = Metrics(), make(n1=Fault.FAIL)
    port = MeteredPort(kube, metrics, FakeClock().monotonic)
    await port.create(POD, "ns", BODY)
    with pytest.raises(Unknown):
        await port.get(POD, "ns", "a")
    await port.get(POD, "ns", "a")

    def count(verb: str, result: str) -> float | None:
        labels = {"verb": verb, "kind": "Pod", "result": result}
        return metrics.registry.get_sample_value("skerry_api_calls_total", labels)

    assert (count("create", "OK"), count("get", "Unknown"), count("get", "OK")) == (1.0, 1.0, 1.0)
