"""The Pod is there: it starts, in whose words it does not, and it runs."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_operator.plan.actions import (
    DeletePod,
)
from skerry_operator.plan.run import plan_run
from skerry_testing.planrun import PROVISIONING, see, status_of
from skerry_testing.plans import (
    NOW,
    NS,
    SETTINGS,
    a_pod,
    a_run,
    after,
    conditions,
    running,
)

Json = dict[str, Any]


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
    def test_in_the_containers_or_schedulers_words(
        self, pod: Json, reason: str, failure: str, words: str
    ) -> None:
        seen = a_pod(phase="Pending", **pod)
        status = status_of(plan_run(see(a_run(), seen), NOW, SETTINGS))
        assert conditions(status)["Ready"] == ("False", reason)
        waiting = a_run(status=status)
        plan = plan_run(see(waiting, seen), after(599), SETTINGS)
        assert (plan.status, plan.actions, plan.wake_at) == (None, (), after(600))
        late = status_of(plan_run(see(waiting, seen), after(600), SETTINGS))
        assert (late["phase"], late["failure"]["class"]) == ("Failed", failure)
        assert words in late["failure"]["message"]

    def test_flickering_words_are_written_once(self) -> None:
        first = a_pod(phase="Pending", state={"waiting": {"reason": "ErrImagePull", "message": "a"}})
        run = a_run(status=status_of(plan_run(see(a_run(), first), NOW, SETTINGS)))
        second = a_pod(phase="Pending", state={"waiting": {"reason": "ImagePullBackOff", "message": "b"}})
        assert plan_run(see(run, second), after(5), SETTINGS).status is None

    def test_a_pod_that_runs_by_now_is_not_too_late(self) -> None:
        status = status_of(
            plan_run(see(a_run(status=PROVISIONING), a_pod(state=running)), after(5000), SETTINGS)
        )
        assert status["phase"] == "Running"
        assert conditions(status) == {
            "Ready": ("True", "Running"), "Reconciling": ("False", "Running"),
            "Stalled": ("False", "Running"), "Succeeded": ("Unknown", "Running"),
        }  # fmt: skip
        assert status["deadline"] == "2026-01-01T14:23:20Z"

    def test_after_the_end_the_pod_is_deleted(self) -> None:
        ended = a_run(status=PROVISIONING | {"phase": "Failed", "completionTime": "2026-01-01T12:10:00Z"})
        plan = plan_run(see(ended, a_pod(phase="Pending")), after(600), SETTINGS)
        assert plan.actions == (DeletePod(NS, "run-1", "pod-run-1"),)
