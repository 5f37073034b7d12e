"""Who may write what into status, on a real API server with real tokens bound to real Pods."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from gen_policy import operator_fields
from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_operator.build.runner_pod import build_runner_pod
from skerry_operator.settings import PlanSettings
from skerry_testing.apierrors import ApiError
from skerry_testing.apiserver import ApiServer
from skerry_testing.full import OPERATOR_STATUS, RUNNER_STATUS
from skerry_testing.manifests import a_run, a_sandbox

Json = dict[str, Any]
LATER = "2031-01-31T12:00:00Z"
CHANGED: Json = {
    "observedGeneration": 4, "phase": "Failed", "stopReason": "TurnCapped",
    "failure": {"class": "AppError", "message": "x"}, "conditions": [], "queue": {"position": 2, "reason": "ThreadBusy"},
    "epoch": 3, "attempts": 3, "podName": "other", "podUID": "other", "threadId": "other",
    "profile": {"uid": "other", "generation": 4}, "startTime": LATER, "epochTime": LATER, "runningTime": LATER,
    "pausedSince": LATER, "pausedSeconds": 6, "completionTime": LATER, "deadline": LATER, "cancelled": True,
    "sandbox": {"endpoint": "http://192.0.2.9:1"},
}  # fmt: skip
"""Another valid value of each field of the operator."""


class Epoch:
    """A run in its second epoch: its Pod made by the operator, its status written by the operator."""

    def __init__(self, api: ApiServer, run: Json, pod: Json, runner: ApiServer) -> None:
        self.api, self.run, self.pod, self.runner = api, run, pod, runner

    @property
    def name(self) -> str:
        return str(self.run["metadata"]["name"])

    def report(self, **fields: Any) -> Json:
        """What its runner says of itself."""
        runner = {**RUNNER_STATUS["runner"], "podUID": self.pod["metadata"]["uid"], "epoch": 2, **fields}
        return {"sandboxId": "sbx-1", "runner": runner}


@asynccontextmanager
async def _epoch(admin: ApiServer, operator: ApiServer, name: str) -> AsyncIterator[Epoch]:
    run = await admin.create(a_run(name, profileRef={"name": "scripted"}))
    pod = await operator.create(await _pod(admin, run))
    standing = {**OPERATOR_STATUS, "podName": pod["metadata"]["name"], "podUID": pod["metadata"]["uid"]}
    await operator.apply_status("AgentRun", name, standing, "skerry-operator")
    async with admin.as_token(await admin.token_for("skerry-runner", pod)) as runner:
        yield Epoch(admin, run, pod, runner)


async def _pod(admin: ApiServer, run: Json) -> Json:
    profile = AgentProfile.read(await admin.get("AgentProfile", "scripted"))
    settings = PlanSettings(runner_image="skerry-runner:test", sandbox_image="skerry-sandbox:test")
    return build_runner_pod(AgentRun.read(run), profile, 2, "{}", settings)


@pytest.fixture
async def epoch(admin: ApiServer, operator: ApiServer) -> AsyncIterator[Epoch]:
    async with _epoch(admin, operator, "one") as it:
        yield it


async def _refused(writer: ApiServer, name: str, status: Json | None, kind: str = "AgentRun") -> str:
    with pytest.raises(ApiError) as caught:
        await writer.patch(kind, name, {"status": status}, subresource="status")
    assert caught.value.code in {403, 422}
    return caught.value.message


async def test_a_runner_reports_through_its_own_pod(epoch: Epoch) -> None:
    after = await epoch.runner.apply_status("AgentRun", epoch.name, epoch.report(), "skerry-runner")
    assert after["status"]["runner"]["answer"] == "42"
    assert after["status"]["sandboxId"] == "sbx-1"
    assert after["status"]["phase"] == "Running"
    less = {key: value for key, value in epoch.report().items() if key != "sandboxId"}
    again = await epoch.runner.apply_status("AgentRun", epoch.name, less, "skerry-runner")
    assert "sandboxId" not in again["status"]


def test_the_table_of_changes_is_complete() -> None:
    assert set(CHANGED) == set(operator_fields())


@pytest.mark.parametrize("field", operator_fields())
async def test_a_runner_cannot_change_the_operators(epoch: Epoch, field: str) -> None:
    said = await _refused(epoch.runner, epoch.name, {field: CHANGED[field]})
    assert f"status.{field} is written by the operator alone" in said


@pytest.mark.parametrize("field", operator_fields())
async def test_a_runner_cannot_remove_the_operators(epoch: Epoch, field: str) -> None:
    assert "status" in await _refused(epoch.runner, epoch.name, {field: None})


async def test_a_runner_cannot_remove_status_as_a_whole(epoch: Epoch) -> None:
    await _refused(epoch.runner, epoch.name, None)
    removal = [{"op": "remove", "path": "/status"}]
    with pytest.raises(ApiError) as caught:
        await epoch.runner.patch("AgentRun", epoch.name, removal, subresource="status", how="json")
    assert caught.value.code in {403, 422}
    assert (await epoch.api.get("AgentRun", epoch.name))["status"]["phase"] == "Running"


async def test_a_runner_cannot_write_for_another_run(
    epoch: Epoch, admin: ApiServer, operator: ApiServer
) -> None:
    async with _epoch(admin, operator, "two") as other:
        said = await _refused(epoch.runner, "two", other.report())
        assert "runner Pod in status.podName" in said
        await other.runner.apply_status("AgentRun", "two", other.report(), "skerry-runner")


async def test_a_pod_of_an_earlier_run_of_the_same_name_is_another(
    epoch: Epoch, admin: ApiServer, operator: ApiServer
) -> None:
    await admin.delete("AgentRun", epoch.name)
    await admin.delete("Pod", epoch.pod["metadata"]["name"], grace=0)
    async with _epoch(admin, operator, "one") as newer:
        assert newer.pod["metadata"]["name"] == epoch.pod["metadata"]["name"]
        # The old Pod is gone, so its token is worth nothing by itself; claims of one that lingers are forged here.
        stale = admin.as_user(
            f"system:serviceaccount:{admin.namespace}:skerry-runner",
            "system:authenticated",
            **{
                "authentication.kubernetes.io/pod-name": str(epoch.pod["metadata"]["name"]),
                "authentication.kubernetes.io/pod-uid": str(epoch.pod["metadata"]["uid"]),
            },
        )
        async with stale:
            assert "status.podUID" in await _refused(stale, "one", newer.report())


async def test_a_token_without_a_pod_is_refused(epoch: Epoch, admin: ApiServer) -> None:
    async with admin.as_token(await admin.token_for("skerry-runner")) as nobody:
        assert "runner Pod" in await _refused(nobody, epoch.name, epoch.report())


async def test_before_the_operator_wrote_nobody_may(admin: ApiServer, operator: ApiServer) -> None:
    run = await admin.create(a_run("fresh", profileRef={"name": "scripted"}))
    pod = await operator.create(await _pod(admin, run))
    async with admin.as_token(await admin.token_for("skerry-runner", pod)) as runner:
        assert "runner Pod" in await _refused(runner, "fresh", {"sandboxId": "sbx-1"})


@pytest.mark.parametrize(("field", "value"), [("podUID", "other"), ("epoch", 1)])
async def test_a_report_is_of_the_pod_that_makes_it(epoch: Epoch, field: str, value: str | int) -> None:
    said = await _refused(epoch.runner, epoch.name, epoch.report(**{field: value}))
    assert f"status.runner.{field} must be that of the current epoch's Pod" in said


async def test_even_the_admin_is_refused(epoch: Epoch, admin: ApiServer) -> None:
    assert "only by the operator" in await _refused(admin, epoch.name, {"phase": "Failed"})


async def test_the_operator_may_write_all_also_in_the_runners_name(epoch: Epoch, operator: ApiServer) -> None:
    await operator.apply_status("AgentRun", epoch.name, epoch.report(), "skerry-runner")
    done = {**OPERATOR_STATUS, "phase": "Succeeded"}
    after = await operator.apply_status("AgentRun", epoch.name, done, "skerry-operator")
    assert (after["status"]["phase"], after["status"]["runner"]["answer"]) == ("Succeeded", "42")


async def test_spec_is_not_the_policys_business(epoch: Epoch, admin: ApiServer) -> None:
    after = await admin.patch("AgentRun", epoch.name, {"spec": {"cancel": True}})
    assert after["spec"]["cancel"] is True


async def test_a_sandboxs_status_is_the_operators_alone(
    epoch: Epoch, admin: ApiServer, operator: ApiServer
) -> None:
    await admin.create(a_sandbox("sbx-1"))
    for writer in (admin, epoch.runner):
        await _refused(writer, "sbx-1", {"phase": "Ready"}, kind="Sandbox")
    after = await operator.apply_status("Sandbox", "sbx-1", {"phase": "Ready"}, "skerry-operator")
    assert after["status"]["phase"] == "Ready"
