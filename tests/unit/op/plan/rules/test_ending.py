"""Reports, deadlines, and what is left to do after an end."""

from __future__ import annotations

import json
from typing import Any

import pytest

from skerry_operator.plan.actions import (
    DeletePod,
    DeleteRun,
    Refusal,
    RefusalKind,
    RelayReport,
)
from skerry_operator.plan.lookup import Found, Missing
from skerry_operator.plan.run import plan_run
from skerry_operator.plan.types import Plan
from skerry_testing.planrun import RUNNING, report, see, status_of
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

TODOS = [{"content": "look", "status": "Pending"}]


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
    ) -> None:
        run = a_run(
            cancel=cancel, status=RUNNING | {"runner": report(outcome, reason="Why", message="words")}
        )
        for pods in ([], [a_pod(state=running)], [a_pod(phase="Failed", state=terminated(137, "OOMKilled"))]):
            status = status_of(plan_run(see(run, *pods), after(seconds), SETTINGS))
            assert status["phase"] == phase
            assert status.get("failure", {}).get("class") == failure
            assert "completionTime" in status
            assert "deadline" not in status

    def test_success_carries_the_stop_reason(self) -> None:
        runner = report("Succeeded") | {"stopReason": "TurnCapped"}
        status = status_of(plan_run(see(a_run(status=RUNNING | {"runner": runner})), NOW, SETTINGS))
        assert status["stopReason"] == "TurnCapped"
        assert conditions(status)["Succeeded"] == ("True", "Succeeded")

    @pytest.mark.parametrize("runner", [report("Succeeded", epoch=2), report("Succeeded", uid="pod-other")])
    def test_the_word_of_another_epoch_or_pod_does_not_count(self, runner: Json) -> None:
        plan = plan_run(
            see(a_run(status=RUNNING | {"runner": runner}), a_pod(state=running)), after(1), SETTINGS
        )
        assert plan.status is not None
        assert plan.status["phase"] == "Running"

    def test_a_report_in_the_termination_message_is_laid_into_the_runners_fields(self) -> None:
        message = {
            "runUID": "uid-run",
            "epoch": 1,
            "outcome": {"class": "Succeeded"},
            "answer": "42",
            "progress": {"turn": 3},
        }
        pod = a_pod(phase="Succeeded", state=terminated(0, "Completed", json.dumps(message)))
        runner = {
            "epoch": 1,
            "podUID": "pod-run-1",
            "node": "n",
            "progress": {"turn": 2, "toolCalls": 1, "todos": TODOS},
        }
        run = a_run(status=RUNNING | {"runner": runner, "sandboxId": "sbx"})
        plan = plan_run(see(run, pod), NOW, SETTINGS)
        [relay] = plan.actions
        assert isinstance(relay, RelayReport)
        assert relay.resource_version == "1"
        assert relay.status["sandboxId"] == "sbx"
        assert relay.status["runner"]["answer"] == "42"
        assert relay.status["runner"]["progress"]["turn"] == 3
        # A termination message has no room for them.
        assert relay.status["runner"]["progress"]["todos"] == TODOS
        refused = see(run, pod, refusal=Refusal(RefusalKind.INVALID, "no"))
        assert status_of(plan_run(refused, NOW, SETTINGS))["phase"] == "Succeeded"

    def test_a_reference_in_the_termination_message_is_laid_in_likewise(self) -> None:
        ref = {"size": 2, "event": "model.response"}
        message = {"runUID": "uid-run", "epoch": 1, "outcome": {"class": "Succeeded"}, "answerRef": ref}
        pod = a_pod(phase="Succeeded", state=terminated(0, "Completed", json.dumps(message)))
        [relay] = plan_run(see(a_run(status=RUNNING), pod), NOW, SETTINGS).actions
        assert isinstance(relay, RelayReport)
        assert relay.status["runner"]["answerRef"] == ref
        assert "answer" not in relay.status["runner"]

    @pytest.mark.parametrize("teller", ["pod-run-1", "other"])
    def test_what_was_presented_stays_and_what_is_new_is_added(self, teller: str) -> None:
        a, b = (
            {"path": f"/mnt/user-data/outputs/{n}", "size": 1, "mediaType": "text/plain", "available": True}
            for n in "ab"
        )
        a2 = a | {"size": 2}
        late = {"runUID": "uid-run", "epoch": 1, "outcome": {"class": "Succeeded"}, "artifacts": [a2]}
        pod = a_pod(phase="Succeeded", state=terminated(0, "Completed", json.dumps(late)))
        earlier = {"epoch": 1, "podUID": teller, "artifacts": [a, b]}
        [relay] = plan_run(see(a_run(status=RUNNING | {"runner": earlier}), pod), NOW, SETTINGS).actions
        assert isinstance(relay, RelayReport)
        assert relay.status["runner"]["artifacts"] == [a2, b]

    @pytest.mark.parametrize(
        "message",
        ["", "panic", "[1]", '{"runUID": "other", "epoch": 1, "outcome": {"class": "Succeeded"}}', '{"runUID": "uid-run", "epoch": 7, "outcome": {"class": "Succeeded"}}'],
    )  # fmt: skip
    def test_anything_else_is_no_report(self, message: str) -> None:
        pod = a_pod(phase="Failed", state=terminated(3, "Error", message))
        status = status_of(plan_run(see(a_run(status=RUNNING), pod), NOW, SETTINGS))
        assert status["failure"]["class"] == "AppError"
        assert status["failure"]["message"].startswith(
            "NoReport: the container of Pod run-1 ended with code 3"
        )


class TestDeadline:
    def test_active_deadline_ends_timed_out_and_then_deletes(self) -> None:
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

    def test_the_pod_stays_for_its_retention(self) -> None:
        pod = a_pod(phase="Succeeded", state=terminated(0, "Completed"))
        profile = Found(a_profile(runnerPodRetentionSeconds=100))
        run = a_run(status=self.ENDED)
        assert plan_run(see(run, pod, profile=profile), after(99), SETTINGS) == Plan(wake_at=after(100))
        plan = plan_run(see(run, pod, profile=profile), after(100), SETTINGS)
        assert plan.actions == (DeletePod(NS, "run-1", "pod-run-1"),)
        assert plan_run(see(run, pod, profile=Missing()), after(101), SETTINGS) == Plan(wake_at=after(3600))

    def test_a_reported_runner_may_exit_by_itself(self) -> None:
        run = a_run(status=self.ENDED)
        assert plan_run(see(run, a_pod(state=running)), after(29), SETTINGS) == Plan(wake_at=after(30))
        assert len(plan_run(see(run, a_pod(state=running)), after(30), SETTINGS).actions) == 1

    def test_time_to_live(self) -> None:
        run = a_run(ttlSecondsAfterFinished=50, status=self.ENDED)
        assert plan_run(see(run), after(49), SETTINGS) == Plan(wake_at=after(50))
        assert plan_run(see(run), after(50), SETTINGS).actions == (DeleteRun(NS, "run", "uid-run"),)

    def test_a_new_generation_is_acknowledged_and_nothing_else_changes(self) -> None:
        run = a_run(status=self.ENDED, meta={"generation": 2})
        status = status_of(plan_run(see(run), after(1), SETTINGS))
        assert status["observedGeneration"] == 2
        assert status["phase"] == "Succeeded"
        assert plan_run(see(a_run(status=status, meta={"generation": 2})), after(1), SETTINGS) == Plan()

    def test_what_was_refused_is_not_asked_for_again_at_once(self) -> None:
        run = a_run(ttlSecondsAfterFinished=0, status=self.ENDED)
        plan = plan_run(see(run, refusal=Refusal(RefusalKind.FORBIDDEN, "no")), NOW, SETTINGS)
        assert plan == Plan(wake_at=NOW + SETTINGS.retry_refused)
