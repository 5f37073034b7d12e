"""spec.cancel, latched."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from skerry_operator.plan.actions import (
    DeletePod,
)
from skerry_operator.plan.run import plan_run
from skerry_operator.plan.types import Plan
from skerry_testing.planrun import PROVISIONING, RUNNING, report, see, status_of
from skerry_testing.plans import (
    NOW,
    NS,
    SETTINGS,
    a_pod,
    a_run,
    after,
    conditions,
    running,
    terminated,
)

Json = dict[str, Any]


class TestCancel:
    @pytest.mark.parametrize("status", [{}, {"phase": "Pending"}, {"phase": "Queued"}, {"cancelled": True}])
    def test_before_a_pod_it_ends_at_once(self, status: Json) -> None:
        observed = see(a_run(cancel=not status.get("cancelled"), status=status))
        assert plan_run(replace(observed, live=False), NOW, SETTINGS) == Plan(needs_live=True)
        ended = status_of(plan_run(observed, NOW, SETTINGS))
        assert ended["phase"] == "Cancelled"
        assert conditions(ended)["Stalled"] == ("False", "Cancelled")
        assert conditions(ended)["Ready"] == ("True", "Cancelled")

    def test_a_running_runner_ends_itself_or_is_deleted_after_the_grace(self) -> None:
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

    def test_a_container_that_never_ran_is_deleted_at_once(self) -> None:
        pod = a_pod(phase="Pending")
        said = status_of(plan_run(see(a_run(cancel=True, status=PROVISIONING), pod), NOW, SETTINGS))
        assert conditions(said)["Ready"] == ("False", "Cancelling")
        plan = plan_run(see(a_run(cancel=True, status=said), pod), NOW, SETTINGS)
        assert plan.actions == (DeletePod(NS, "run-1", "pod-run-1"),)

    def test_interrupted_and_cancelled_is_cancelled(self) -> None:
        run = a_run(cancel=True, status=RUNNING | {"runner": report("Interrupted")})
        status = status_of(plan_run(see(run, a_pod(phase="Failed", state=terminated(143))), NOW, SETTINGS))
        assert status["phase"] == "Cancelled"

    def test_a_pod_that_will_not_go_holds_up_nobody_for_ever(self) -> None:
        pod = a_pod(state=running, deleted=after(30))
        run = a_run(cancel=True, status=RUNNING)
        assert status_of(plan_run(see(run, pod), after(89), SETTINGS))["phase"] == "Running"
        assert status_of(plan_run(see(run, pod), after(90), SETTINGS))["phase"] == "Cancelled"
