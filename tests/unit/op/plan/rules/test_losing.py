"""Pods lost without a report: which are followed by another epoch, and how."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import pytest

from skerry_api.persistence import StateVolume
from skerry_operator.build.state_volume import build_state_volume
from skerry_operator.plan.actions import (
    CreatePod,
    DeletePod,
)
from skerry_operator.plan.lookup import Found, Missing
from skerry_operator.plan.podview import NodeState
from skerry_operator.plan.run import plan_run
from skerry_operator.plan.types import Plan
from skerry_operator.plan.volumeview import view_volume
from skerry_testing.planrun import PROVISIONING, RUNNING, report, see, status_of
from skerry_testing.plans import (
    NOW,
    NS,
    SETTINGS,
    a_pod,
    a_profile,
    a_run,
    after,
    conditions,
    running,
    terminated,
)

Json = dict[str, Any]


class TestLoss:
    @pytest.mark.parametrize(
        ("pod", "failure"),
        [
            ({"state": terminated(137, "OOMKilled")}, "OOMKilled"),
            ({"state": terminated(1)}, "AppError"),
            ({"state": terminated(0, "Completed"), "phase": "Succeeded"}, "AppError"),
        ],
    )
    def test_faults_of_the_run_are_not_retried(self, pod: Json, failure: str) -> None:
        observed = see(a_run(status=RUNNING), a_pod(**{"phase": "Failed", **pod}))
        status = status_of(plan_run(observed, NOW, SETTINGS))
        assert (status["phase"], status["failure"]["class"]) == ("Failed", failure)
        assert plan_run(replace(observed, live=False), NOW, SETTINGS) == Plan(needs_live=True)

    @pytest.mark.parametrize(
        ("pod", "failure"),
        [
            ({"phase": "Failed", "reason": "Evicted", "message": "disk"}, "Evicted"),
            ({"phase": "Failed", "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}, "Evicted"),
            ({"phase": "Failed", "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager"}]}, "NodeLost"),
            ({"phase": "Failed", "reason": "UnexpectedAdmissionError"}, "PodLost"),
            ({"phase": "Failed", "state": terminated(137, "ContainerStatusUnknown")}, "PodLost"),
        ],
    )  # fmt: skip
    def test_faults_of_the_cluster_start_a_new_epoch_step_by_step(self, pod: Json, failure: str) -> None:
        seen = a_pod(**pod)
        said = status_of(plan_run(see(a_run(status=RUNNING), seen), NOW, SETTINGS))
        assert (said["phase"], conditions(said)["Reconciling"]) == ("Running", ("True", failure))
        run = a_run(status=said)
        assert plan_run(see(run, seen), NOW, SETTINGS).actions == (DeletePod(NS, "run-1", "pod-run-1"),)
        going = replace(seen, deletion_timestamp=after(30))
        waiting = plan_run(see(run, going), NOW, SETTINGS)
        assert (waiting.actions, waiting.status) == ((), None)
        [create] = plan_run(see(run), after(9), SETTINGS).actions
        assert isinstance(create, CreatePod)
        assert create.manifest["metadata"]["name"] == "run-2"
        plan = plan_run(see(run, a_pod("run-2", epoch=2, phase="Pending")), after(10), SETTINGS)
        again = status_of(plan)
        assert (again["phase"], again["epoch"], again["attempts"]) == ("Provisioning", 2, 2)
        assert again["epochTime"] == "2026-01-01T12:00:10Z"
        assert [event.reason for event in plan.events] == ["Retrying"]
        assert failure in plan.events[0].message

    def test_the_start_up_clock_begins_anew_with_the_epoch(self) -> None:
        status = status_of(
            plan_run(
                see(a_run(status=PROVISIONING), a_pod("run-2", epoch=2, phase="Pending")),
                after(300),
                SETTINGS,
            )
        )
        assert (status["epoch"], status["epochTime"], status["deadline"]) == (
            2,
            "2026-01-01T12:05:00Z",
            "2026-01-01T12:15:00Z",
        )

    def test_a_deleted_pod_is_waited_out_and_then_lost(self) -> None:
        going = a_pod(state=running, deleted=after(30))
        said = status_of(plan_run(see(a_run(status=RUNNING), going), NOW, SETTINGS))
        assert conditions(said)["Reconciling"] == ("True", "PodLost")
        assert plan_run(see(a_run(status=said), live=False), NOW, SETTINGS) == Plan(needs_live=True)

    @pytest.mark.parametrize("state", [NodeState.GONE, NodeState.OUT_OF_SERVICE])
    @pytest.mark.parametrize("deleted", [None, after(30)])
    def test_only_a_lost_node_forces_a_pod_away(self, state: NodeState, deleted: Any) -> None:
        seen = a_pod(state=running, node_state=state, deleted=deleted)
        run = a_run(status=status_of(plan_run(see(a_run(status=RUNNING), seen), NOW, SETTINGS)))
        assert plan_run(see(run, seen), NOW, SETTINGS).actions == (DeletePod(NS, "run-1", "pod-run-1", 0),)

    def test_an_unknown_node_is_not_a_lost_one(self) -> None:
        seen = a_pod(state=running, node_state=NodeState.UNKNOWN, phase="Unknown")
        assert status_of(plan_run(see(a_run(status=RUNNING), seen), NOW, SETTINGS))["phase"] == "Running"

    def test_no_retry_once_a_tool_has_run(self) -> None:
        runner = {"epoch": 1, "podUID": "pod-run-1", "progress": {"toolCalls": 1}}
        status = status_of(plan_run(see(a_run(status=RUNNING | {"runner": runner})), NOW, SETTINGS))
        assert (status["phase"], status["failure"]["class"]) == ("Failed", "PodLost")
        assert "a tool has run" in status["failure"]["message"]

    def test_no_retry_when_they_are_used_up(self) -> None:
        status = status_of(plan_run(see(a_run(retries=0, status=RUNNING)), NOW, SETTINGS))
        assert "retries are used up (0)" in status["failure"]["message"]

    def test_an_interrupted_runner_is_a_lost_pod(self) -> None:
        run = a_run(status=RUNNING | {"runner": report("Interrupted", message="SIGTERM")})
        said = status_of(plan_run(see(run, a_pod(phase="Failed", state=terminated(143))), NOW, SETTINGS))
        assert conditions(said)["Reconciling"] == ("True", "PodLost")

    def test_a_pod_of_the_same_name_with_another_uid_is_not_ours(self) -> None:
        plan = plan_run(see(a_run(status=RUNNING), a_pod(uid="pod-impostor", state=running)), NOW, SETTINGS)
        assert plan.actions == (DeletePod(NS, "run-1", "pod-impostor"),)

    @pytest.mark.parametrize("seconds", [5, 2000])
    def test_a_retry_waits_for_what_is_missing_with_a_new_clock(self, seconds: int) -> None:
        run = a_run(status=RUNNING)
        status = status_of(plan_run(see(run, profile=Missing()), after(seconds), SETTINGS))
        assert (status["phase"], status["epoch"]) == ("Provisioning", 1)
        late = see(a_run(status=status), profile=Missing())
        assert plan_run(late, after(seconds + 599), SETTINGS).status is None
        assert status_of(plan_run(late, after(seconds + 600), SETTINGS))["phase"] == "Failed"


class TestDurable:
    """With checkpoints that outlive the Pod a run goes on after its tools have run."""

    VOLUME = Found(a_profile(persistence={"type": "Volume"}))
    USED: ClassVar[Json] = {"profile": {"uid": "uid-coder", "generation": 1}}
    TOOLS: ClassVar[Json] = {"runner": {"epoch": 1, "podUID": "pod-run-1", "progress": {"toolCalls": 1}}}

    @pytest.mark.parametrize("kind", ["Volume", "Postgres"])
    def test_the_pod_says_what_its_epoch_had(self, kind: str) -> None:
        pod = a_pod(phase="Failed", reason="Evicted")
        status = RUNNING | self.USED | self.TOOLS
        lost = plan_run(see(a_run(status=status), pod), NOW, SETTINGS)
        assert status_of(lost)["phase"] == "Failed"
        kept = replace(pod, labels=pod.labels | {"skerry.dev/persistence": kind})
        assert status_of(plan_run(see(a_run(status=status), kept), NOW, SETTINGS))["phase"] == "Running"
        # Changed to Volume since: this epoch's checkpoints are gone nevertheless.
        plain = replace(pod, labels=pod.labels | {"skerry.dev/persistence": "Ephemeral"})
        changed = see(a_run(status=status), plain, profile=self.VOLUME)
        assert status_of(plan_run(changed, NOW, SETTINGS))["phase"] == "Failed"

    @pytest.mark.parametrize(
        ("generation", "goes_on"), [(1, True), (2, False)], ids=["the same profile", "changed since"]
    )
    def test_without_the_pod_the_profile_says_it(self, generation: int, goes_on: bool) -> None:
        used = {"profile": {"uid": "uid-coder", "generation": generation}}
        run = a_run(status=RUNNING | used | self.TOOLS)
        made = build_state_volume(run, StateVolume())
        made["metadata"] |= {"uid": "uid-v", "resourceVersion": "7"}
        seen = see(run, profile=self.VOLUME, volume=Found(view_volume(made)))
        plan = plan_run(seen, NOW, SETTINGS)
        assert any(isinstance(action, CreatePod) for action in plan.actions) is goes_on
        if not goes_on:
            assert status_of(plan)["failure"]["class"] == "PodLost"

    def test_its_retries_are_counted_all_the_same(self) -> None:
        pod = a_pod(phase="Failed", reason="Evicted")
        kept = replace(pod, labels=pod.labels | {"skerry.dev/persistence": "Volume"})
        status = RUNNING | self.TOOLS
        plan = plan_run(see(a_run(status=status, retries=0), kept), NOW, SETTINGS)
        assert "retries are used up" in status_of(plan)["failure"]["message"]

    def test_a_runner_that_lost_its_database_is_followed_by_another(self) -> None:
        told = {
            "runner": report(
                "Interrupted", reason="StateLost", message="the database can't be reached: no route"
            )
        }
        told["runner"]["progress"] = {"toolCalls": 3}
        pod = a_pod(phase="Failed", state=terminated(1))
        kept = replace(pod, labels=pod.labels | {"skerry.dev/persistence": "Postgres"})
        status = status_of(plan_run(see(a_run(status=RUNNING | told), kept), NOW, SETTINGS))
        assert (status["phase"], conditions(status)["Ready"]) == ("Running", ("False", "PodLost"))
        over = status_of(plan_run(see(a_run(status=RUNNING | told, retries=0), kept), NOW, SETTINGS))
        assert (over["phase"], over["failure"]["class"]) == ("Failed", "PodLost")
        assert "the database can't be reached: no route" in over["failure"]["message"]
