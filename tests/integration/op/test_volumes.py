"""Volumes of threads on a real API server: applied before the Pod, shared by runs, deleted when their time is over."""

from __future__ import annotations

from pathlib import Path

from skerry_api.names import sandbox_id, state_volume_name
from skerry_testing.apiserver import ApiServer, Json
from skerry_testing.handmade import Hands
from skerry_testing.operatorproc import operator

KIND = "PersistentVolumeClaim"
UNUSED = "skerry.dev/unused-since"
PROTECTION = ["kubernetes.io/pvc-protection"]


async def through(hands: Hands, name: str) -> Json:
    """A run of the thread from its start to its end; its Pod."""
    await hands.submit(name, threadId="t1")
    await hands.kubelet_runs(f"{name}-1")
    await hands.phase("Running", name)
    pod = await hands.pod(f"{name}-1")
    await hands.report_end(name)
    await hands.phase("Succeeded", name)
    await hands.kubelet_ends(f"{name}-1")
    return pod


async def test_a_thread_keeps_its_volume_until_its_time_is_over(
    api: ApiServer, hands: Hands, tmp_path: Path
) -> None:
    await hands.prepare(persistence={"type": "Volume", "volume": {"size": "2Gi", "retentionSeconds": 3600}})
    name = state_volume_name(sandbox_id(api.namespace, "default", "t1"))
    async with operator(api, tmp_path) as op:
        await op.leading()
        pod = await through(hands, "one")
        made = await api.get(KIND, name)
        assert made["spec"]["resources"]["requests"] == {"storage": "2Gi"}
        assert made["metadata"]["finalizers"] == PROTECTION
        mounted = [each for each in pod["spec"]["volumes"] if "persistentVolumeClaim" in each]
        assert [each["persistentVolumeClaim"]["claimName"] for each in mounted] == [name]
        assert await op.terminate() == 0

    # A new leader looks at everything at once: the claim is stamped with the end of the run.
    async with operator(api, tmp_path) as op:
        await op.leading()
        stamped = await api.wait_for(KIND, name, lambda claim: UNUSED in claim["metadata"]["annotations"])
        run = await api.get("AgentRun", "one")
        assert stamped["metadata"]["annotations"][UNUSED] == run["status"]["completionTime"].replace(
            "+00:00", "Z"
        )
        await through(hands, "two")
        again = await api.get(KIND, name)
        assert again["metadata"]["uid"] == made["metadata"]["uid"]
        assert UNUSED not in again["metadata"]["annotations"]

        # A shorter time is noted by the next run.
        profile = await api.get("AgentProfile", "p")
        profile["spec"]["persistence"]["volume"]["retentionSeconds"] = 0
        await api.replace(profile)
        await through(hands, "three")
        assert await op.terminate() == 0

    async with operator(api, tmp_path) as op:
        await op.leading()
        going = await api.wait_for(KIND, name, lambda claim: "deletionTimestamp" in claim["metadata"])
        assert "skerry.dev/expired" in going["metadata"]["annotations"]
        # Still there, and never used again: the next run of the thread waits.
        await hands.submit("four", threadId="t1")
        waiting = await api.wait_for(
            "AgentRun", "four", lambda run: name in str(run.get("status", {}).get("conditions", ""))
        )
        assert "podName" not in waiting["status"]
        going = await api.get(KIND, name)
        going["metadata"]["finalizers"] = []
        await api.replace(going)
        await hands.pod("four-1")
        assert (await api.get(KIND, name))["metadata"]["uid"] != made["metadata"]["uid"]
