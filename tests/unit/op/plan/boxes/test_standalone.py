"""A person's Sandboxes."""

from __future__ import annotations

from typing import Any

from skerry_operator.plan.actions import (
    CreatePod,
    DeletePod,
    ProbeIdle,
)
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.sandbox import plan_sandbox
from skerry_operator.plan.types import IdleAnswer, ObservedSandbox, Plan
from skerry_testing.planbox import (
    READY,
    held,
    pod,
    status_of,
)
from skerry_testing.plans import NOW, NS, SETTINGS, a_sandbox, after, conditions

Json = dict[str, Any]


class TestStandalone:
    def see(self, status: Json, *pods: PodView, **more: Any) -> ObservedSandbox:
        return held(a_sandbox(made=False, status=status), *pods, **more)

    def test_it_gets_a_pod_and_no_run_gets_it(self) -> None:
        assert [type(each) for each in plan_sandbox(self.see({}), NOW, SETTINGS).actions] == [CreatePod]
        status = status_of(plan_sandbox(self.see({}, pod()), NOW, SETTINGS))
        assert (status["phase"], status["idleSince"]) == ("Ready", "2026-01-01T12:00:00Z")
        assert "holder" not in status

    def test_a_lost_pod_is_not_replaced(self) -> None:
        status = status_of(plan_sandbox(self.see(READY), NOW, SETTINGS))
        assert (status["phase"], list(conditions(status))) == ("Released", ["Stalled"])
        assert plan_sandbox(self.see(status), NOW, SETTINGS) == Plan()

    def test_it_ends_released_and_the_object_stays(self) -> None:
        status = status_of(plan_sandbox(self.see({}, pod()), NOW, SETTINGS))
        assert [
            type(each) for each in plan_sandbox(self.see(status, pod()), after(600), SETTINGS).actions
        ] == [ProbeIdle]
        probe = IdleAnswer("pod-sbx", after(600), 600)
        ended = status_of(plan_sandbox(self.see(status, pod(), probe=probe), after(600), SETTINGS))
        assert ended["phase"] == "Released"
        plan = plan_sandbox(self.see(ended, pod()), after(601), SETTINGS)
        assert plan.actions == (DeletePod(NS, "sbx", "pod-sbx"),)

    def test_one_in_an_unprepared_namespace_stalls(self) -> None:
        status = status_of(plan_sandbox(self.see({}, prepared=False), NOW, SETTINGS))
        assert conditions(status)["Stalled"] == ("True", "NamespaceNotPrepared")
