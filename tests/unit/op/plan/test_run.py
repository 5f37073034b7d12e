"""plan_run, one table per stage of a run's life."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from skerry_api.agentrun import AgentRun
from skerry_api.labels import Annotation
from skerry_api.phases import QueueReason, RunPhase
from skerry_operator.plan.actions import (
    ApplyPolicy,
    CreatePod,
    DeletePod,
    DeleteRun,
    Refusal,
    RefusalKind,
    RelayReport,
)
from skerry_operator.plan.lookup import UNKNOWN, Found, Missing
from skerry_operator.plan.podview import NodeState, PodView
from skerry_operator.plan.run import plan_run
from skerry_operator.plan.types import Admitted, ObservedRun, Plan, TextRef, Waits
from skerry_testing.plans import (
    NOW,
    NS,
    SETTINGS,
    a_class,
    a_pod,
    a_profile,
    a_run,
    after,
    conditions,
    running,
    terminated,
)

Json = dict[str, Any]
PROVISIONING: Json = {
    "observedGeneration": 1, "phase": "Provisioning", "epoch": 1, "attempts": 1, "podName": "run-1", "podUID": "pod-run-1",
    "threadId": "uid-run", "startTime": "2026-01-01T12:00:00Z", "epochTime": "2026-01-01T12:00:00Z",
}  # fmt: skip
RUNNING: Json = PROVISIONING | {"phase": "Running", "runningTime": "2026-01-01T12:00:00Z"}


def see(run: AgentRun | None, *pods: PodView, **more: Any) -> ObservedRun:
    """A world in which everything is there and was read live."""
    basis: Json = {
        "profile": Found(a_profile()), "sandbox_class": Found(a_class()), "admission": Admitted(),
        "profile_policy": Missing(), "live": True,
    }  # fmt: skip
    return ObservedRun(NS, "run", run, pods, **(basis | more))


def status_of(plan: Plan) -> Json:
    assert plan.actions == ()
    assert plan.status is not None
    return plan.status


def report(outcome: str, epoch: int = 1, uid: str = "pod-run-1", **more: Any) -> Json:
    return {"epoch": epoch, "podUID": uid, "outcome": {"class": outcome, **more}}


class TestStart:
    def test_first_act_is_the_pod_and_no_status_goes_before_it(self):
        plan = plan_run(see(a_run()), NOW, SETTINGS)
        assert [type(each) for each in plan.actions] == [CreatePod]
        assert plan.status is None
        [create] = plan.actions
        assert isinstance(create, CreatePod)
        assert create.manifest["metadata"]["name"] == "run-1"
        document = json.loads(create.manifest["metadata"]["annotations"][Annotation.DOCUMENT])
        assert document["run"] == {
            "namespace": NS,
            "name": "run",
            "uid": "uid-run",
            "generation": 1,
            "epoch": 1,
        }

    def test_nothing_is_made_on_hearsay(self):
        plan = plan_run(see(a_run(), live=False), NOW, SETTINGS)
        assert plan == Plan(needs_live=True)

    def test_a_pod_seen_is_what_the_first_status_tells(self):
        status = status_of(plan_run(see(a_run(), a_pod(phase="Pending")), NOW, SETTINGS))
        assert (status["phase"], status["epoch"], status["attempts"]) == ("Provisioning", 1, 1)
        assert (status["podName"], status["podUID"]) == ("run-1", "pod-run-1")
        assert status["profile"] == {"uid": "uid-coder", "generation": 1}
        assert status["deadline"] == "2026-01-01T12:10:00Z"
        assert conditions(status)["Reconciling"] == ("True", "Starting")

    def test_policy_of_the_profile_comes_before_the_pod(self):
        profile = Found(a_profile(runner={"network": {"allow": ["10.0.0.0/8"]}}))
        plan = plan_run(see(a_run(), profile=profile), NOW, SETTINGS)
        assert [type(each) for each in plan.actions] == [ApplyPolicy, CreatePod]

    def test_without_a_decision_it_waits_silently(self):
        assert plan_run(see(a_run(), admission=None), NOW, SETTINGS) == Plan()

    def test_queued_says_place_and_reason(self):
        waits = Waits(12, QueueReason.NAMESPACE_LIMIT, "full")
        status = status_of(plan_run(see(a_run(), admission=waits), NOW, SETTINGS))
        assert status["queue"] == {"position": 20, "reason": "NamespaceLimit"}
        assert "deadline" not in status
        assert "epochTime" not in status

    @pytest.mark.parametrize(
        ("world", "reason", "path"),
        [
            ({"profile": Missing()}, "ProfileNotFound", "spec.profileRef.name"),
            ({"sandbox_class": Missing()}, "SandboxClassNotFound", "spec.sandbox.classRef.name"),
            (
                {"texts": {TextRef("cm", "k"): Missing("key k in ConfigMap cm")}},
                "ConfigMapNotFound",
                "spec.promptFrom.configMapKeyRef: there is no key k in ConfigMap cm",
            ),
        ],
    )
    def test_what_a_person_must_bring_is_waited_for_until_the_deadline(
        self, world: Json, reason: str, path: str
    ):
        source = {"configMapKeyRef": {"name": "cm", "key": "k"}}
        run = a_run(prompt=None, promptFrom=source) if reason == "ConfigMapNotFound" else a_run()
        status = status_of(plan_run(see(run, **world), NOW, SETTINGS))
        assert status["phase"] == "Pending"
        assert conditions(status)["Reconciling"] == ("True", reason)
        assert path in status["conditions"][0]["message"]
        waiting = run.model_copy(update={"status": a_run(status=status).status})
        late = status_of(plan_run(see(waiting, **world), after(600), SETTINGS))
        assert (late["phase"], late["failure"]["class"]) == ("Failed", "InvalidSpec")
        assert path in late["failure"]["message"]

    def test_unknown_is_not_missing(self):
        plan = plan_run(see(a_run(), profile=UNKNOWN), NOW, SETTINGS)
        assert plan.status is None
        assert plan.actions == ()
        assert plan.wake_at is not None

    def test_an_unprepared_namespace_stalls_and_is_not_terminal(self):
        observed = see(a_run(), prepared=False)
        status = status_of(plan_run(observed, NOW, SETTINGS))
        assert status["phase"] == "Pending"
        assert conditions(status)["Stalled"] == ("True", "NamespaceNotPrepared")
        blocked = a_run(status=status)
        assert plan_run(see(blocked, prepared=False), after(10_000), SETTINGS) == Plan()
        assert plan_run(see(blocked), after(10_000), SETTINGS).actions != ()

    @pytest.mark.parametrize(
        ("spec", "path"),
        [
            ({"model": {"name": "openai:gpt-x"}}, "spec.model.name"),
            ({"sandbox": {"classRef": {"name": "gpu"}}}, "spec.sandbox.classRef.name"),
            ({"prompt": "x" * 65_000, "model": {"script": "é" * 70_000}}, "spec.model.script"),
        ],
    )
    def test_what_waiting_does_not_mend_fails_with_the_field(self, spec: Json, path: str):
        observed = see(a_run(**spec), sandbox_class=Missing())
        status = status_of(plan_run(observed, NOW, SETTINGS))
        assert (status["phase"], status["failure"]["class"]) == ("Failed", "InvalidSpec")
        assert status["failure"]["message"].startswith(path)
        assert plan_run(replace(observed, live=False), NOW, SETTINGS) == Plan(needs_live=True)

    @pytest.mark.parametrize(
        ("kind", "failure"),
        [
            (RefusalKind.FORBIDDEN, "AdmissionForbidden"),
            (RefusalKind.INVALID, "InvalidSpec"),
            (RefusalKind.NAME_TAKEN, "StartupTimeout"),
        ],
    )
    def test_a_refused_pod_is_tried_again_until_the_deadline(self, kind: RefusalKind, failure: str):
        refusal = Refusal(kind, "no, because")
        plan = plan_run(see(a_run(), refusal=refusal), NOW, SETTINGS)
        status = status_of(plan)
        assert status["phase"] == "Provisioning"
        assert "epoch" not in status
        assert plan.wake_at == NOW + SETTINGS.retry_refused
        refused = a_run(status=status)
        assert [type(each) for each in plan_run(see(refused), after(60), SETTINGS).actions] == [CreatePod]
        late = status_of(plan_run(see(refused, refusal=refusal), after(600), SETTINGS))
        assert late["failure"] == {"class": failure, "message": "not running after 600 s: no, because"}

    def test_remains_of_a_former_run_go_before_a_pod_is_made(self):
        old = a_pod(owner="uid-former")
        plan = plan_run(see(a_run(), old), NOW, SETTINGS)
        assert plan.actions == (DeletePod(NS, "run-1", "pod-run-1"),)
        going = a_pod(owner="uid-former", deleted=after(30))
        status = status_of(plan_run(see(a_run(), going), NOW, SETTINGS))
        assert conditions(status)["Ready"] == ("False", "PodRemains")

    def test_a_found_config_map_brings_the_run_back_into_the_queue(self):
        source = {"configMapKeyRef": {"name": "cm", "key": "k"}}
        ref = TextRef("cm", "k")
        run = a_run(prompt=None, promptFrom=source)
        wanting = status_of(plan_run(see(run, texts={ref: Missing()}), NOW, SETTINGS))
        run = a_run(prompt=None, promptFrom=source, status=wanting)
        again = status_of(plan_run(see(run, texts={ref: Found("hi")}, admission=None), after(30), SETTINGS))
        assert conditions(again)["Ready"] == ("False", "WaitingForAdmission")


class TestWaitingForThePod:
    @pytest.mark.parametrize(
        ("pod", "reason", "failure", "words"),
        [
            ({"state": {"waiting": {"reason": "ErrImagePull", "message": "no such image"}}}, "ImagePull", "ImagePull", "ErrImagePull: no such image"),
            ({"state": {"waiting": {"reason": "CreateContainerConfigError", "message": 'secret "key" not found'}}}, "SecretNotFound", "InvalidSpec", 'secret "key" not found'),
            ({"state": {"waiting": {"reason": "CreateContainerError", "message": "odd"}}}, "ContainerNotStarted", "StartupTimeout", "CreateContainerError: odd"),
            ({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}]}, "Unschedulable", "Unschedulable", "Unschedulable: 0/1 nodes"),
            ({}, "Starting", "StartupTimeout", "Pod run-1 is starting"),
        ],
    )  # fmt: skip
    def test_in_the_containers_or_schedulers_words(self, pod: Json, reason: str, failure: str, words: str):
        seen = a_pod(phase="Pending", **pod)
        status = status_of(plan_run(see(a_run(), seen), NOW, SETTINGS))
        assert conditions(status)["Ready"] == ("False", reason)
        waiting = a_run(status=status)
        plan = plan_run(see(waiting, seen), after(599), SETTINGS)
        assert (plan.status, plan.actions, plan.wake_at) == (None, (), after(600))
        late = status_of(plan_run(see(waiting, seen), after(600), SETTINGS))
        assert (late["phase"], late["failure"]["class"]) == ("Failed", failure)
        assert words in late["failure"]["message"]

    def test_flickering_words_are_written_once(self):
        first = a_pod(phase="Pending", state={"waiting": {"reason": "ErrImagePull", "message": "a"}})
        run = a_run(status=status_of(plan_run(see(a_run(), first), NOW, SETTINGS)))
        second = a_pod(phase="Pending", state={"waiting": {"reason": "ImagePullBackOff", "message": "b"}})
        assert plan_run(see(run, second), after(5), SETTINGS).status is None

    def test_a_pod_that_runs_by_now_is_not_too_late(self):
        status = status_of(
            plan_run(see(a_run(status=PROVISIONING), a_pod(state=running)), after(5000), SETTINGS)
        )
        assert status["phase"] == "Running"
        assert conditions(status) == {
            "Ready": ("True", "Running"), "Reconciling": ("False", "Running"),
            "Stalled": ("False", "Running"), "Succeeded": ("Unknown", "Running"),
        }  # fmt: skip
        assert status["deadline"] == "2026-01-01T14:23:20Z"

    def test_after_the_end_the_pod_is_deleted(self):
        ended = a_run(status=PROVISIONING | {"phase": "Failed", "completionTime": "2026-01-01T12:10:00Z"})
        plan = plan_run(see(ended, a_pod(phase="Pending")), after(600), SETTINGS)
        assert plan.actions == (DeletePod(NS, "run-1", "pod-run-1"),)


class TestReport:
    @pytest.mark.parametrize(
        ("outcome", "phase", "failure"),
        [
            ("Succeeded", "Succeeded", None), ("Cancelled", "Cancelled", None), ("ModelError", "Failed", "ModelError"),
            ("AppError", "Failed", "AppError"), ("SandboxLost", "Failed", "SandboxLost"), ("InvalidSpec", "Failed", "InvalidSpec"),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("cancel", [False, True])
    @pytest.mark.parametrize("seconds", [1, 100_000])
    def test_a_terminal_report_always_wins(
        self, outcome: str, phase: str, failure: str | None, cancel: bool, seconds: int
    ):
        run = a_run(
            cancel=cancel, status=RUNNING | {"runner": report(outcome, reason="Why", message="words")}
        )
        for pods in ([], [a_pod(state=running)], [a_pod(phase="Failed", state=terminated(137, "OOMKilled"))]):
            status = status_of(plan_run(see(run, *pods), after(seconds), SETTINGS))
            assert status["phase"] == phase
            assert status.get("failure", {}).get("class") == failure
            assert "completionTime" in status
            assert "deadline" not in status

    def test_success_carries_the_stop_reason(self):
        runner = report("Succeeded") | {"stopReason": "TurnCapped"}
        status = status_of(plan_run(see(a_run(status=RUNNING | {"runner": runner})), NOW, SETTINGS))
        assert status["stopReason"] == "TurnCapped"
        assert conditions(status)["Succeeded"] == ("True", "Succeeded")

    @pytest.mark.parametrize("runner", [report("Succeeded", epoch=2), report("Succeeded", uid="pod-other")])
    def test_the_word_of_another_epoch_or_pod_does_not_count(self, runner: Json):
        plan = plan_run(
            see(a_run(status=RUNNING | {"runner": runner}), a_pod(state=running)), after(1), SETTINGS
        )
        assert plan.status is not None
        assert plan.status["phase"] == "Running"

    def test_a_report_in_the_termination_message_is_laid_into_the_runners_fields(self):
        message = {
            "runUID": "uid-run",
            "epoch": 1,
            "outcome": {"class": "Succeeded"},
            "answer": "42",
            "progress": {"turn": 3},
        }
        pod = a_pod(phase="Succeeded", state=terminated(0, "Completed", json.dumps(message)))
        runner = {"epoch": 1, "podUID": "pod-run-1", "node": "n", "progress": {"turn": 2, "toolCalls": 1}}
        run = a_run(status=RUNNING | {"runner": runner, "sandboxId": "sbx"})
        plan = plan_run(see(run, pod), NOW, SETTINGS)
        [relay] = plan.actions
        assert isinstance(relay, RelayReport)
        assert relay.resource_version == "1"
        assert relay.status["sandboxId"] == "sbx"
        assert relay.status["runner"]["answer"] == "42"
        assert relay.status["runner"]["progress"]["turn"] == 3
        refused = see(run, pod, refusal=Refusal(RefusalKind.INVALID, "no"))
        assert status_of(plan_run(refused, NOW, SETTINGS))["phase"] == "Succeeded"

    @pytest.mark.parametrize(
        "message",
        ["", "panic", "[1]", '{"runUID": "other", "epoch": 1, "outcome": {"class": "Succeeded"}}', '{"runUID": "uid-run", "epoch": 7, "outcome": {"class": "Succeeded"}}'],
    )  # fmt: skip
    def test_anything_else_is_no_report(self, message: str):
        pod = a_pod(phase="Failed", state=terminated(3, "Error", message))
        status = status_of(plan_run(see(a_run(status=RUNNING), pod), NOW, SETTINGS))
        assert status["failure"]["class"] == "AppError"
        assert status["failure"]["message"].startswith(
            "NoReport: the container of Pod run-1 ended with code 3"
        )


class TestLoss:
    @pytest.mark.parametrize(
        ("pod", "failure"),
        [
            ({"state": terminated(137, "OOMKilled")}, "OOMKilled"),
            ({"state": terminated(1)}, "AppError"),
            ({"state": terminated(0, "Completed"), "phase": "Succeeded"}, "AppError"),
        ],
    )
    def test_faults_of_the_run_are_not_retried(self, pod: Json, failure: str):
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
    def test_faults_of_the_cluster_start_a_new_epoch_step_by_step(self, pod: Json, failure: str):
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

    def test_a_deleted_pod_is_waited_out_and_then_lost(self):
        going = a_pod(state=running, deleted=after(30))
        said = status_of(plan_run(see(a_run(status=RUNNING), going), NOW, SETTINGS))
        assert conditions(said)["Reconciling"] == ("True", "PodLost")
        assert plan_run(see(a_run(status=said), live=False), NOW, SETTINGS) == Plan(needs_live=True)

    @pytest.mark.parametrize("state", [NodeState.GONE, NodeState.OUT_OF_SERVICE])
    @pytest.mark.parametrize("deleted", [None, after(30)])
    def test_only_a_lost_node_forces_a_pod_away(self, state: NodeState, deleted: Any):
        seen = a_pod(state=running, node_state=state, deleted=deleted)
        run = a_run(status=status_of(plan_run(see(a_run(status=RUNNING), seen), NOW, SETTINGS)))
        assert plan_run(see(run, seen), NOW, SETTINGS).actions == (DeletePod(NS, "run-1", "pod-run-1", 0),)

    def test_an_unknown_node_is_not_a_lost_one(self):
        seen = a_pod(state=running, node_state=NodeState.UNKNOWN, phase="Unknown")
        assert status_of(plan_run(see(a_run(status=RUNNING), seen), NOW, SETTINGS))["phase"] == "Running"

    def test_no_retry_once_a_tool_has_run(self):
        runner = {"epoch": 1, "podUID": "pod-run-1", "progress": {"toolCalls": 1}}
        status = status_of(plan_run(see(a_run(status=RUNNING | {"runner": runner})), NOW, SETTINGS))
        assert (status["phase"], status["failure"]["class"]) == ("Failed", "PodLost")
        assert "a tool has run" in status["failure"]["message"]

    def test_no_retry_when_they_are_used_up(self):
        status = status_of(plan_run(see(a_run(retries=0, status=RUNNING)), NOW, SETTINGS))
        assert "retries are used up (0)" in status["failure"]["message"]

    def test_an_interrupted_runner_is_a_lost_pod(self):
        run = a_run(status=RUNNING | {"runner": report("Interrupted", message="SIGTERM")})
        said = status_of(plan_run(see(run, a_pod(phase="Failed", state=terminated(143))), NOW, SETTINGS))
        assert conditions(said)["Reconciling"] == ("True", "PodLost")

    def test_a_pod_of_the_same_name_with_another_uid_is_not_ours(self):
        plan = plan_run(see(a_run(status=RUNNING), a_pod(uid="pod-impostor", state=running)), NOW, SETTINGS)
        assert plan.actions == (DeletePod(NS, "run-1", "pod-impostor"),)

    def test_a_retry_waits_for_what_is_missing(self):
        status = status_of(plan_run(see(a_run(status=RUNNING), profile=Missing()), after(5), SETTINGS))
        assert (status["phase"], status["epoch"]) == ("Provisioning", 1)
        assert status["epochTime"] == "2026-01-01T12:00:05Z"


class TestCancel:
    @pytest.mark.parametrize("status", [{}, {"phase": "Pending"}, {"phase": "Queued"}, {"cancelled": True}])
    def test_before_a_pod_it_ends_at_once(self, status: Json):
        observed = see(a_run(cancel=not status.get("cancelled"), status=status))
        assert plan_run(replace(observed, live=False), NOW, SETTINGS) == Plan(needs_live=True)
        ended = status_of(plan_run(observed, NOW, SETTINGS))
        assert ended["phase"] == "Cancelled"
        assert conditions(ended)["Stalled"] == ("False", "Cancelled")
        assert conditions(ended)["Ready"] == ("True", "Cancelled")

    def test_a_running_runner_ends_itself_or_is_deleted_after_the_grace(self):
        pod = a_pod(state=running)
        before = status_of(plan_run(see(a_run(status=PROVISIONING), pod), NOW, SETTINGS))
        plan = plan_run(see(a_run(cancel=True, status=before), pod), after(5), SETTINGS)
        said = status_of(plan)
        assert (said["phase"], said["cancelled"]) == ("Running", True)
        assert [event.reason for event in plan.events] == ["Cancelling"]
        run = a_run(cancel=False, status=said)  # taken back: latched
        assert plan_run(see(run, pod), after(34), SETTINGS) == Plan(wake_at=after(35))
        assert plan_run(see(run, pod), after(35), SETTINGS).actions == (DeletePod(NS, "run-1", "pod-run-1"),)
        assert status_of(plan_run(see(run), after(36), SETTINGS))["phase"] == "Cancelled"

    def test_a_container_that_never_ran_is_deleted_at_once(self):
        pod = a_pod(phase="Pending")
        said = status_of(plan_run(see(a_run(cancel=True, status=PROVISIONING), pod), NOW, SETTINGS))
        assert conditions(said)["Ready"] == ("False", "Cancelling")
        plan = plan_run(see(a_run(cancel=True, status=said), pod), NOW, SETTINGS)
        assert plan.actions == (DeletePod(NS, "run-1", "pod-run-1"),)

    def test_interrupted_and_cancelled_is_cancelled(self):
        run = a_run(cancel=True, status=RUNNING | {"runner": report("Interrupted")})
        status = status_of(plan_run(see(run, a_pod(phase="Failed", state=terminated(143))), NOW, SETTINGS))
        assert status["phase"] == "Cancelled"

    def test_a_pod_that_will_not_go_holds_up_nobody_for_ever(self):
        pod = a_pod(state=running, deleted=after(30))
        run = a_run(cancel=True, status=RUNNING)
        assert status_of(plan_run(see(run, pod), after(89), SETTINGS))["phase"] == "Running"
        assert status_of(plan_run(see(run, pod), after(90), SETTINGS))["phase"] == "Cancelled"


class TestDeadline:
    def test_active_deadline_ends_timed_out_and_then_deletes(self):
        pod = a_pod(state=running)
        assert (
            status_of(plan_run(see(a_run(status=RUNNING), pod), after(3599), SETTINGS))["phase"] == "Running"
        )
        status = status_of(plan_run(see(a_run(status=RUNNING), pod), after(3600), SETTINGS))
        assert (status["phase"], status["failure"]["class"]) == ("TimedOut", "Timeout")
        ended = a_run(status=status)
        assert plan_run(see(ended, pod), after(3600), SETTINGS).actions == (
            DeletePod(NS, "run-1", "pod-run-1"),
        )


class TestFinished:
    ENDED = RUNNING | {
        "phase": "Succeeded",
        "completionTime": "2026-01-01T12:00:00Z",
        "runner": report("Succeeded"),
    }

    def test_the_pod_stays_for_its_retention(self):
        pod = a_pod(phase="Succeeded", state=terminated(0, "Completed"))
        profile = Found(a_profile(runnerPodRetentionSeconds=100))
        run = a_run(status=self.ENDED)
        assert plan_run(see(run, pod, profile=profile), after(99), SETTINGS) == Plan(wake_at=after(100))
        plan = plan_run(see(run, pod, profile=profile), after(100), SETTINGS)
        assert plan.actions == (DeletePod(NS, "run-1", "pod-run-1"),)
        assert plan_run(see(run, pod, profile=Missing()), after(101), SETTINGS) == Plan(wake_at=after(3600))

    def test_a_reported_runner_may_exit_by_itself(self):
        run = a_run(status=self.ENDED)
        assert plan_run(see(run, a_pod(state=running)), after(29), SETTINGS) == Plan(wake_at=after(30))
        assert len(plan_run(see(run, a_pod(state=running)), after(30), SETTINGS).actions) == 1

    def test_time_to_live(self):
        run = a_run(ttlSecondsAfterFinished=50, status=self.ENDED)
        assert plan_run(see(run), after(49), SETTINGS) == Plan(wake_at=after(50))
        assert plan_run(see(run), after(50), SETTINGS).actions == (DeleteRun(NS, "run", "uid-run"),)

    def test_a_new_generation_is_acknowledged_and_nothing_else_changes(self):
        run = a_run(status=self.ENDED, meta={"generation": 2})
        status = status_of(plan_run(see(run), after(1), SETTINGS))
        assert status["observedGeneration"] == 2
        assert status["phase"] == "Succeeded"
        assert plan_run(see(a_run(status=status, meta={"generation": 2})), after(1), SETTINGS) == Plan()

    def test_what_was_refused_is_not_asked_for_again_at_once(self):
        run = a_run(ttlSecondsAfterFinished=0, status=self.ENDED)
        plan = plan_run(see(run, refusal=Refusal(RefusalKind.FORBIDDEN, "no")), NOW, SETTINGS)
        assert plan == Plan(wake_at=NOW + SETTINGS.retry_refused)


class TestGone:
    def test_the_garbage_collector_is_first(self):
        gone = see(None, a_pod(), gone_at=NOW)
        assert plan_run(gone, after(14), SETTINGS) == Plan(wake_at=after(15))
        assert plan_run(gone, after(15), SETTINGS).actions == (DeletePod(NS, "run-1", "pod-run-1"),)
        assert len(plan_run(see(None, a_pod()), NOW, SETTINGS).actions) == 1

    def test_nobody_elses_pod_is_touched(self):
        assert plan_run(see(None, a_pod(ours=False), a_pod("run-9", owner="")), NOW, SETTINGS) == Plan()

    def test_a_run_being_deleted_gets_nothing_new(self):
        run = a_run(meta={"deletionTimestamp": "2026-01-01T12:00:00Z"})
        assert plan_run(see(run), NOW, SETTINGS) == Plan()


class TestQueueWrites:
    def test_a_place_that_only_moves_is_written_twice_a_minute_at_most(self):
        first = plan_run(see(a_run(), admission=Waits(5, QueueReason.NAMESPACE_LIMIT, "full")), NOW, SETTINGS)
        run = a_run(status=status_of(first))
        moved = see(run, admission=Waits(4, QueueReason.NAMESPACE_LIMIT, "full"), status_written=NOW)
        assert plan_run(moved, after(29), SETTINGS) == Plan(wake_at=after(30))
        assert status_of(plan_run(moved, after(30), SETTINGS))["queue"]["position"] == 4
        other = see(run, admission=Waits(4, QueueReason.THREAD_BUSY, "busy"), status_written=NOW)
        assert status_of(plan_run(other, after(1), SETTINGS))["queue"]["reason"] == "ThreadBusy"

    def test_the_start_up_clock_does_not_run_in_the_queue(self):
        queued = status_of(
            plan_run(see(a_run(), admission=Waits(1, QueueReason.NAMESPACE_LIMIT, "full")), NOW, SETTINGS)
        )
        pod = a_pod(phase="Pending")
        status = status_of(plan_run(see(a_run(status=queued), pod), after(100_000), SETTINGS))
        assert status["phase"] == RunPhase.PROVISIONING
        assert status["epochTime"] == "2026-01-02T15:46:40Z"
