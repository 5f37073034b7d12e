"""The real runner process against a real API server, with a real sandboxd for a sandbox."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from skerry_testing.apierrors import ApiError
from skerry_testing.apiserver import ApiServer
from skerry_testing.controlplane import ControlPlane
from skerry_testing.eventually import eventually, eventually_true
from skerry_testing.fixtures import temporary_namespace
from skerry_testing.manifests import a_run
from skerry_testing.runnerepoch import Epoch, prepare
from skerry_testing.sandboxd import running_sandboxd

TALK = "steps:\n- say: hello\n"
WORK = """\
steps:
- toolCalls: [{name: bash, args: {command: "echo made in $PWD > made; cat made"}}]
- expect: {lastRole: tool, contains: ["made in /mnt/user-data/workspace"]}
  toolCalls: [{name: bash, args: {command: "wc -l < made"}}]
- say: all done
"""
WAIT = """\
steps:
- toolCalls: [{name: bash, args: {command: "touch up; while [ ! -e go ]; do sleep 0.05; done; echo we$((0))nt"}}]
- expect: {contains: [we0nt]}
  say: all done
"""
LONG = """\
steps:
- toolCalls: [{name: bash, args: {command: "touch up; sleep 3600"}}]
- say: never
"""


@asynccontextmanager
async def policy(api: ApiServer) -> AsyncIterator[None]:
    """In this namespace, a runner's report is let in only once status names its Pod, as the chart has it."""
    name = f"test-{api.namespace}"
    same = "object.?status.?runner.?podUID.orValue('') == oldObject.?status.?podUID.orValue('?')"
    rules = [
        {
            "apiGroups": ["skerry.dev"],
            "apiVersions": ["*"],
            "operations": ["UPDATE"],
            "resources": ["agentruns/status"],
        }
    ]
    here = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": api.namespace}}}
    meta, version = {"name": name}, "admissionregistration.k8s.io/v1"
    body = {
        "matchConstraints": {"resourceRules": rules},
        "validations": [
            {"expression": f"!has(object.status.runner) || {same}", "message": "not the Pod of this run"}
        ],
    }
    await api.create(
        {"apiVersion": version, "kind": "ValidatingAdmissionPolicy", "metadata": meta, "spec": body}
    )
    await api.create({
        "apiVersion": version, "kind": "ValidatingAdmissionPolicyBinding", "metadata": meta,
        "spec": {"policyName": name, "validationActions": ["Deny"], "matchResources": here},
    })  # fmt: skip
    try:
        await api.create(a_run("probe"))
        await eventually_true(partial(_refuses, api))
        yield
    finally:
        await api.delete("ValidatingAdmissionPolicyBinding", name)
        await api.delete("ValidatingAdmissionPolicy", name)


async def _refuses(api: ApiServer) -> bool:
    try:
        report = {"runner": {"epoch": 1, "podUID": "another"}}
        await api.patch("AgentRun", "probe", {"status": report}, subresource="status")
    except ApiError:
        return True
    return False


def ended(status: dict[str, dict[str, object]]) -> bool:
    return "outcome" in status.get("runner", {})


async def test_a_run_without_tools_reports_its_answer_and_asks_for_no_sandbox(epoch: Epoch) -> None:
    await epoch.start(TALK)
    assert await epoch.ended() == 0, epoch.logs
    status = await epoch.status()
    runner = status["runner"]
    assert (runner["epoch"], runner["podUID"], runner["node"]) == (1, epoch.pod_uid, "node-1")
    assert (runner["outcome"]["class"], runner["stopReason"], runner["answer"]) == (
        "Succeeded",
        "EndTurn",
        "hello",
    )
    assert "sandboxId" not in status
    assert "sandboxRequest" not in runner
    assert status["phase"] == "Running", "the phase is the operator's"
    assert epoch.termination is not None
    assert (epoch.termination["epoch"], epoch.termination["answer"]) == (1, "hello")
    lines = epoch.journal()
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert (epoch.folder / "stdout").read_text() == (epoch.folder / "journal.jsonl").read_text()


async def test_runs_that_a_thread_s_volume_has_no_more_room_for_leave_its_journal(epoch: Epoch) -> None:
    older = [f'{{"seq":1,"time":"2026-05-08T12:00:00.000Z","run":"{run}","epoch":1}}\n' for run in "ab"]
    (epoch.folder / "journal.jsonl").write_text("".join(older))
    await epoch.start(TALK, profile={"persistence": {"type": "Volume", "volume": {"keepRuns": 2}}})
    assert await epoch.ended() == 0, epoch.logs
    assert epoch.document is not None
    assert list(dict.fromkeys(line["run"] for line in epoch.journal())) == ["b", epoch.document.run.uid]


async def test_the_runner_owns_its_fields_and_no_others(epoch: Epoch) -> None:
    await epoch.start(TALK)
    await epoch.ended()
    run = await epoch.api.get("AgentRun", epoch.NAME)
    (entry,) = [e for e in run["metadata"]["managedFields"] if e["manager"] == "skerry-runner"]
    assert (entry["operation"], entry["subresource"]) == ("Apply", "status")
    assert entry["fieldsV1"].keys() == {"f:status"}
    assert entry["fieldsV1"]["f:status"].keys() == {"f:runner"}


async def test_commands_run_in_the_sandbox_that_the_operator_gives(epoch: Epoch, tmp_path: Path) -> None:
    await epoch.start(WORK)
    async with running_sandboxd(tmp_path / "sandbox", epoch.sandbox_identity(), mounted=True) as sandboxd:
        await epoch.give(sandboxd)
        assert await epoch.ended() == 0, epoch.logs
        assert (sandboxd.workspace / "made").read_text() == "made in /mnt/user-data/workspace\n"
    status = await epoch.status()
    assert status["sandboxId"] == sandboxd.identity.sandbox_id
    assert status["runner"]["outcome"]["class"] == "Succeeded", status
    assert status["runner"]["progress"] == {"turn": 3, "modelCalls": 3, "toolCalls": 2, "title": "hello"}
    assert [line["type"] for line in epoch.journal("sandbox.acquired", "sandbox.released")] == [
        "sandbox.acquired",
        "sandbox.released",
    ]


async def test_the_first_tool_call_is_known_before_it_is_made(epoch: Epoch) -> None:
    await epoch.start(WORK)
    run = await epoch.wait(lambda status: "sandboxRequest" in status.get("runner", {}))
    assert run["status"]["runner"]["progress"]["toolCalls"] == 1
    assert run["status"]["runner"]["sandboxRequest"]["epoch"] == 1


async def test_cancel_kills_what_runs_and_is_reported(epoch: Epoch, tmp_path: Path) -> None:
    await epoch.start(LONG)
    async with running_sandboxd(tmp_path / "sandbox", epoch.sandbox_identity(), mounted=True) as sandboxd:
        await epoch.give(sandboxd)
        await epoch.file(sandboxd.workspace / "up")
        await epoch.api.patch("AgentRun", epoch.NAME, {"spec": {"cancel": True}})
        assert await epoch.ended() == 1
        async with sandboxd.local() as client:
            idle = (await client.get("/v1/idle")).json()
        assert idle["activeExecutions"] == 0
    assert (await epoch.status())["runner"]["outcome"]["class"] == "Cancelled"
    assert epoch.termination is not None
    assert epoch.termination["outcome"]["class"] == "Cancelled"


async def test_sigterm_is_reported_as_interrupted(epoch: Epoch, tmp_path: Path) -> None:
    await epoch.start(LONG)
    async with running_sandboxd(tmp_path / "sandbox", epoch.sandbox_identity(), mounted=True) as sandboxd:
        await epoch.give(sandboxd)
        await epoch.file(sandboxd.workspace / "up")
        epoch.send_signal(signal.SIGTERM)
        assert await epoch.ended() == 1
    status = await epoch.status()
    assert status["runner"]["outcome"]["class"] == "Interrupted"
    assert epoch.journal()[-1]["type"] == "run.end"


async def test_a_newer_epoch_ends_the_runner_without_a_word(epoch: Epoch, tmp_path: Path) -> None:
    await epoch.start(LONG)
    async with running_sandboxd(tmp_path / "sandbox", epoch.sandbox_identity(), mounted=True) as sandboxd:
        await epoch.give(sandboxd)
        await epoch.file(sandboxd.workspace / "up")
        await epoch.tell(epoch=2, podName="r-2", podUID="another")
        assert await epoch.ended() == 1
    assert not ended(await epoch.status())
    assert epoch.termination is None


async def test_a_deleted_run_ends_the_runner(epoch: Epoch) -> None:
    await epoch.start(WORK)
    await epoch.wait(lambda status: "sandboxRequest" in status.get("runner", {}))
    await epoch.api.delete("AgentRun", epoch.NAME)
    assert await epoch.ended() == 1
    assert epoch.termination is None


async def test_a_replaced_sandbox_is_told_to_the_agent_and_used_from_then_on(
    epoch: Epoch, tmp_path: Path
) -> None:
    script = """\
steps:
- toolCalls: [{name: bash, args: {command: "touch up; sleep 3600"}}]
- expect: {lastRole: tool, contains: ["sandbox was replaced"]}
  toolCalls: [{name: bash, args: {command: "ls; echo he$((0))re"}}]
- expect: {lastRole: tool, contains: [he0re], absent: ["bash success: up"]}
  say: all done
"""
    await epoch.start(script)
    async with running_sandboxd(tmp_path / "one", epoch.sandbox_identity("one"), mounted=True) as first:
        await epoch.give(first)
        await epoch.file(first.workspace / "up")
        first.process.kill()
        await first.process.wait()
    await epoch.tell(sandbox={"name": first.identity.sandbox_id, "state": "Replacing", "replacements": 1})
    async with running_sandboxd(tmp_path / "two", epoch.sandbox_identity("two"), mounted=True) as second:
        await epoch.give(second, replacements=1)
        assert await epoch.ended() == 0, epoch.logs
    status = await epoch.status()
    assert (status["sandboxId"], status["runner"]["answer"]) == (first.identity.sandbox_id, "all done")
    assert len(epoch.journal("sandbox.replaced")) == 1


async def test_a_sandbox_that_is_lost_ends_the_run(epoch: Epoch) -> None:
    await epoch.start(WORK)
    await epoch.wait(lambda status: "sandboxRequest" in status.get("runner", {}))
    assert epoch.document is not None
    await epoch.tell(sandbox={"name": epoch.document.sandbox.sandbox_id, "state": "Lost", "replacements": 3})
    assert await epoch.ended() == 1
    assert (await epoch.status())["runner"]["outcome"]["class"] == "SandboxLost"


async def test_a_document_that_cannot_be_read_is_reported(epoch: Epoch) -> None:
    await epoch.start(TALK)
    await epoch.ended()
    document = json.loads((epoch.folder / "document.json").read_text())
    (epoch.folder / "document.json").write_text(json.dumps(document | {"maxTurns": 0}))
    await epoch.launch()
    assert await epoch.ended() == 1
    outcome = (await epoch.status())["runner"]["outcome"]
    assert (outcome["class"], outcome["reason"]) == ("InvalidSpec", "InvalidDocument")
    assert "document maxTurns: " in outcome["message"]
    assert epoch.termination is not None
    assert epoch.termination["outcome"] == outcome


async def test_a_report_is_outlasted_until_the_policy_lets_it_in(epoch: Epoch) -> None:
    async with policy(epoch.api):
        await epoch.start(TALK, named=False)
        await eventually(lambda: "denied request" in epoch.logs, within=60)
        await epoch.tell(podUID=epoch.pod_uid)
        assert await epoch.ended() == 0, epoch.logs
    assert (await epoch.status())["runner"]["outcome"]["class"] == "Succeeded"


async def test_an_api_server_that_restarts_in_mid_run_loses_nothing(
    own_plane: ControlPlane, tmp_path: Path
) -> None:
    async with temporary_namespace(own_plane.access) as api:
        await prepare(api)
        async with Epoch.made(api, tmp_path) as epoch:
            await epoch.start(WAIT)
            async with running_sandboxd(
                tmp_path / "sandbox", epoch.sandbox_identity(), mounted=True
            ) as sandboxd:
                await epoch.give(sandboxd)
                await epoch.file(sandboxd.workspace / "up")
                restarting = asyncio.create_task(asyncio.to_thread(own_plane.restart))
                (sandboxd.workspace / "go").touch()
                await restarting
                assert await epoch.ended() == 0, epoch.logs
            status = await epoch.status()
            assert (status["runner"]["outcome"]["class"], status["runner"]["answer"]) == (
                "Succeeded",
                "all done",
            )
            assert status["sandboxId"] == sandboxd.identity.sandbox_id


async def test_cancel_is_seen_after_a_restart_of_the_api_server(
    own_plane: ControlPlane, tmp_path: Path
) -> None:
    async with temporary_namespace(own_plane.access) as api:
        await prepare(api)
        async with Epoch.made(api, tmp_path) as epoch:
            await epoch.start(LONG)
            await epoch.wait(lambda status: "sandboxRequest" in status.get("runner", {}))
            await asyncio.to_thread(own_plane.restart)
            await api.patch("AgentRun", epoch.NAME, {"spec": {"cancel": True}})
            assert await epoch.ended() == 1
            assert (await epoch.status())["runner"]["outcome"]["class"] == "Cancelled"
