"""The operator as a process: killed, paused, replaced, cut off from the API server."""

from __future__ import annotations

import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from skerry_api.names import sandbox_id
from skerry_testing.apiserver import ApiServer
from skerry_testing.controlplane import ControlPlane
from skerry_testing.eventually import eventually_true
from skerry_testing.fixtures import temporary_namespace
from skerry_testing.handmade import Hands
from skerry_testing.operatorproc import FAST_LEASE, OperatorProcess, operator

BUDGET_MB = 150
LONG_LEASE = FAST_LEASE | {"durationSeconds": 60, "renewSeconds": 40}


async def test_killed_in_each_phase_nothing_is_lost_or_doubled(
    api: ApiServer, hands: Hands, tmp_path: Path
) -> None:
    """Each thing happens while no operator lives; the next one finds it. It leads at once: the same Pod's name."""
    await hands.prepare()
    box = sandbox_id(api.namespace, "default", "t1")

    @asynccontextmanager
    async def one_life() -> AsyncIterator[OperatorProcess]:
        async with operator(api, tmp_path) as op:
            yield op
            op.kill()

    await hands.submit(threadId="t1")
    async with one_life():
        await hands.phase("Provisioning")
    await hands.kubelet_runs("hello-1")
    async with one_life():
        await hands.phase("Running")
    await hands.ask_for_sandbox()
    async with one_life():
        await hands.pod(box)
    await hands.kubelet_runs(box)
    async with one_life():
        await api.wait_for("AgentRun", "hello", lambda run: "grant" in run["status"].get("sandbox", {}))
    grant = (await api.get("AgentRun", "hello"))["status"]["sandbox"]["grant"]
    await hands.report_end()
    await hands.kubelet_ends("hello-1")
    async with one_life():
        run = await hands.phase("Succeeded")
        await api.wait_for("Sandbox", box, lambda found: found["status"]["phase"] == "Parked")
    assert (run["status"]["epoch"], run["status"]["attempts"]) == (1, 1)
    assert grant.count(".") == 2
    pods = [pod["metadata"]["name"] for pod in await api.list("Pod")]
    assert sorted(pods) == sorted(["hello-1", box])
    assert [found["metadata"]["name"] for found in await api.list("Sandbox")] == [box]


async def test_the_lease_goes_over_when_asked_to_and_when_the_leader_stops(
    api: ApiServer, hands: Hands, tmp_path: Path
) -> None:
    await hands.prepare()
    async with operator(api, tmp_path, "op-a") as first:
        await first.leading()
        async with operator(api, tmp_path, "op-b") as second:
            await second.ready()
            assert (await second.samples())["skerry_leader", frozenset()] == 0.0
            await hands.submit()
            await hands.phase("Provisioning")
            assert await second.writes() == {}, "a standby only watches"
            assert await first.terminate() == 0
            await second.leading()
            await hands.kubelet_runs("hello-1")
            await hands.phase("Running")
            async with operator(api, tmp_path, "op-c") as third:
                await third.ready()
                second.process.send_signal(signal.SIGSTOP)
                await third.leading()
                await hands.report_end()
                await hands.phase("Succeeded")
                second.process.send_signal(signal.SIGCONT)
                await eventually_true(lambda: _said(second, "no longer leading"), within=30)
                assert (await second.samples())["skerry_leader", frozenset()] == 0.0
                assert (await third.samples())["skerry_leader", frozenset()] == 1.0
                assert await second.writes() == {"status AgentRun": 1}, "the paused one wrote nothing more"


async def test_a_restarted_api_server_is_survived_in_mid_run(own_plane: ControlPlane, tmp_path: Path) -> None:
    async with temporary_namespace(own_plane.access, "op") as api:
        hands = Hands(api)
        await hands.prepare()
        async with operator(api, tmp_path) as op:
            await op.leading()
            await hands.submit()
            await hands.kubelet_runs("hello-1")
            await hands.phase("Running")
            own_plane.restart("kube-apiserver")
            await hands.report_end()
            run = await hands.phase("Succeeded")
            assert run["status"]["epoch"] == 1
            assert op.process.returncode is None, "the same process"
            assert await op.terminate() == 0


async def test_sigterm_in_mid_work_ends_cleanly_and_soon(
    api: ApiServer, hands: Hands, tmp_path: Path
) -> None:
    await hands.prepare()
    # A Lease that a busy machine does not lose on the way: what is asked is whether it is released.
    async with operator(api, tmp_path, lease=LONG_LEASE) as op:
        await op.leading()
        for number in range(20):
            await hands.submit(f"run-{number}")
        assert await op.terminate() == 0
        said = [line["message"] for line in op.lines()]
        assert said[-1] == "stopped"
        assert "lease released" in said
    async with operator(api, tmp_path, "op-b") as op:
        await op.leading()
        for number in range(20):
            await hands.phase("Provisioning", f"run-{number}")
        assert len(await api.list("Pod")) == 20


async def test_a_thousand_idle_runs_cost_little_memory_and_no_writes(
    api: ApiServer, hands: Hands, tmp_path: Path
) -> None:
    await hands.prepare()
    for number in range(1000):
        await hands.submit(f"idle-{number}")
    async with operator(api, tmp_path, maxRunsPerNamespace=1, resyncSeconds=3) as op:
        await op.leading()
        await hands.phase("Queued", "idle-999")
        await eventually_true(lambda: _settled(op), within=120)
        before = await op.writes()
        assert before["create Pod"] == 1
        resyncs = await _resyncs(op)
        await eventually_true(lambda: _more(op, resyncs + 2), within=60)
        assert await op.writes() == before
        assert _rss(op) <= BUDGET_MB, f"{_rss(op):.0f} MB"


async def _said(op: OperatorProcess, message: str) -> bool:
    return any(line["message"] == message for line in op.lines())


async def _settled(op: OperatorProcess) -> bool:
    samples = await op.samples()
    return (
        samples["skerry_queue_depth", frozenset()] == 0
        and samples["skerry_runs", frozenset({("phase", "Queued")})] == 999
    )


async def _resyncs(op: OperatorProcess) -> float:
    labels = frozenset({("verb", "list"), ("kind", "Sandbox"), ("result", "OK")})
    return (await op.samples())["skerry_api_calls_total", labels]


async def _more(op: OperatorProcess, than: float) -> bool:
    return await _resyncs(op) >= than


def _rss(op: OperatorProcess) -> float:
    """Resident memory in MB, 10^6 bytes; the kernel's kB are 1024."""
    text = Path(f"/proc/{op.process.pid}/status").read_text(encoding="ascii")
    return int(next(line for line in text.splitlines() if line.startswith("VmRSS")).split()[1]) * 1024 / 1e6
