"""Whole runs by a real operator process on a real API server; the test is kubelet and runner."""

from __future__ import annotations

from pathlib import Path

from skerry_api.names import sandbox_id
from skerry_testing.apiserver import ApiServer
from skerry_testing.eventually import eventually_true
from skerry_testing.handmade import Hands
from skerry_testing.operatorproc import operator


async def test_a_run_without_a_sandbox(api: ApiServer, hands: Hands, tmp_path: Path) -> None:
    await hands.prepare()
    async with operator(api, tmp_path) as op:
        await op.leading()
        before = await op.writes()
        await hands.submit()
        run = await hands.phase("Provisioning")
        assert run["status"]["podName"] == "hello-1"
        pod = await hands.pod("hello-1")
        assert pod["metadata"]["ownerReferences"][0]["uid"] == run["metadata"]["uid"]
        await hands.kubelet_runs("hello-1")
        await hands.phase("Running")
        await hands.report_end(stopReason="EndTurn", answer="42")
        run = await hands.phase("Succeeded")
        await hands.kubelet_ends("hello-1")
        assert run["status"]["runner"]["answer"] == "42"
        assert run["status"]["stopReason"] == "EndTurn"
        assert await api.list("Sandbox") == []
        writes = await op.writes()
        assert before == {}
        assert {key: count for key, count in writes.items() if "NetworkPolicy" not in key} == {
            "create Pod": 1,
            "status AgentRun": 3,
        }
        assert await op.terminate() == 0
        assert [line for line in op.lines() if line["level"] in {"error", "critical"}] == []
        lease = await api.get("Lease", "skerry-operator")
        assert lease["spec"]["holderIdentity"] == "", "released for the next"
        assert await hands.events("AgentRun", "hello") == ["Started", "Running", "Succeeded"]


async def test_a_run_with_a_sandbox_that_is_parked(api: ApiServer, hands: Hands, tmp_path: Path) -> None:
    await hands.prepare()
    box = sandbox_id(api.namespace, "default", "t1")
    async with operator(api, tmp_path) as op:
        await op.leading()
        await hands.submit(threadId="t1")
        await hands.kubelet_runs("hello-1")
        await hands.phase("Running")
        await hands.ask_for_sandbox()
        await hands.kubelet_runs(box, ip="198.18.0.77")
        run = await api.wait_for(
            "AgentRun", "hello", lambda run: run["status"].get("sandbox", {}).get("state") == "Ready"
        )
        use = run["status"]["sandbox"]
        pod = await api.get("Pod", box)
        assert (use["name"], use["podUID"], use["endpoint"]) == (
            box, pod["metadata"]["uid"], "http://198.18.0.77:8090",
        )  # fmt: skip
        assert use["grant"].count(".") == 2
        await hands.report(sandboxId=box)
        await hands.report_end()
        await hands.phase("Succeeded")
        sandbox = await api.wait_for("Sandbox", box, lambda box: box["status"]["phase"] == "Parked")
        assert "holder" not in sandbox["status"]
        writes = await op.writes()
        assert sum(count for key, count in writes.items() if "NetworkPolicy" not in key) <= 10, writes
        assert writes["apply NetworkPolicy"] == 1
        assert (await api.get("AgentRun", "hello"))["status"]["sandbox"]["state"] == "Released"


async def test_cancel_by_the_runner_and_by_force(api: ApiServer, hands: Hands, tmp_path: Path) -> None:
    await hands.prepare()
    async with operator(api, tmp_path) as op:
        await op.leading()
        for name in ("polite", "deaf"):
            await hands.submit(name)
            await hands.kubelet_runs(f"{name}-1", bind=True)
            await hands.phase("Running", name)
            await api.patch("AgentRun", name, {"spec": {"cancel": True}})
        await hands.report_end("polite", "Cancelled")
        await hands.phase("Cancelled", "polite")
        await api.wait_for("Pod", "deaf-1", lambda pod: "deletionTimestamp" in pod["metadata"])
        await hands.kubelet_removes("deaf-1")
        run = await hands.phase("Cancelled", "deaf")
        assert run["status"]["cancelled"] is True


async def test_a_lost_pod_is_followed_by_one_epoch_and_a_used_one_by_none(
    api: ApiServer, hands: Hands, tmp_path: Path
) -> None:
    await hands.prepare()
    async with operator(api, tmp_path) as op:
        await op.leading()
        await hands.submit()
        await hands.kubelet_runs("hello-1")
        await hands.phase("Running")
        await hands.kubelet_removes("hello-1")
        await hands.kubelet_runs("hello-2")
        run = await api.wait_for(
            "AgentRun",
            "hello",
            lambda run: (run["status"]["epoch"], run["status"]["phase"]) == (2, "Running"),
        )
        assert run["status"]["attempts"] == 2
        await hands.report(progress={"turn": 1, "modelCalls": 1, "toolCalls": 1})
        await hands.kubelet_removes("hello-2")
        run = await hands.phase("Failed")
        assert run["status"]["failure"]["class"] == "PodLost"
        assert "a tool has run" in run["status"]["failure"]["message"]
        assert await api.find("Pod", "hello-3") is None


async def test_one_run_per_thread_the_next_one_queues(api: ApiServer, hands: Hands, tmp_path: Path) -> None:
    await hands.prepare()
    async with operator(api, tmp_path) as op:
        await op.leading()
        await hands.submit("first", threadId="t1")
        await hands.phase("Provisioning", "first")
        await hands.submit("second", threadId="t1")
        second = await hands.phase("Queued", "second")
        assert second["status"]["queue"] == {"position": 1, "reason": "ThreadBusy"}
        await hands.kubelet_runs("first-1")
        await hands.phase("Running", "first")
        assert await api.find("Pod", "second-1") is None
        await hands.report_end("first")
        await hands.phase("Provisioning", "second")
        await hands.pod("second-1")


async def test_deleting_a_run_takes_its_pod_and_its_own_sandbox(
    api: ApiServer, hands: Hands, tmp_path: Path
) -> None:
    await hands.prepare()
    async with operator(api, tmp_path) as op:
        await op.leading()
        made = await hands.submit()
        box = sandbox_id(api.namespace, "default", made["metadata"]["uid"])
        await hands.kubelet_runs("hello-1")
        await hands.phase("Running")
        await hands.ask_for_sandbox()
        await hands.kubelet_runs(box)
        await api.wait_for("Sandbox", box, lambda box: box.get("status", {}).get("phase") == "Ready")
        await api.delete("AgentRun", "hello")
        for kind, name in (("Sandbox", box), ("Pod", "hello-1"), ("Pod", box)):
            await api.wait_gone(kind, name)


async def test_a_run_where_nothing_is_prepared_says_so_and_is_not_over(
    api: ApiServer, hands: Hands, tmp_path: Path
) -> None:
    async with operator(api, tmp_path, runNamespaces=[]) as op:
        await op.leading()
        await hands.submit()
        run = await hands.phase("Pending")
        stalled = next(each for each in run["status"]["conditions"] if each["type"] == "Stalled")
        assert (stalled["status"], stalled["reason"]) == ("True", "NamespaceNotPrepared")
        assert await api.list("Pod") == []


async def test_what_a_person_must_bring_is_waited_for(api: ApiServer, hands: Hands, tmp_path: Path) -> None:
    await api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "skerry-runner"}})
    async with operator(api, tmp_path) as op:
        await op.leading()
        await hands.submit()

        async def reason_is(reason: str) -> None:
            async def holds() -> bool:
                conditions = (await api.get("AgentRun", "hello")).get("status", {}).get("conditions", [])
                return any(each["type"] == "Ready" and each["reason"] == reason for each in conditions)

            await eventually_true(holds)

        await reason_is("ProfileNotFound")
        from skerry_testing.handmade import SCRIPT
        from skerry_testing.manifests import a_class, a_profile

        await api.create(a_profile("p", {"script": SCRIPT}))
        await reason_is("SandboxClassNotFound")
        await api.create(a_class("default"))
        await hands.phase("Provisioning")
