"""Runner Pods without a run."""

from __future__ import annotations

from typing import Any

from skerry_operator.plan.actions import (
    DeletePod,
)
from skerry_operator.plan.run import plan_run
from skerry_operator.plan.types import Plan
from skerry_testing.planrun import see
from skerry_testing.plans import (
    NOW,
    NS,
    SETTINGS,
    a_pod,
    a_run,
    after,
)

Json = dict[str, Any]


class TestGone:
    def test_the_garbage_collector_is_first(self) -> None:
        gone = see(None, a_pod(), gone_at=NOW)
        assert plan_run(gone, after(14), SETTINGS) == Plan(wake_at=after(15))
        assert plan_run(gone, after(15), SETTINGS).actions == (DeletePod(NS, "run-1", "pod-run-1"),)
        assert len(plan_run(see(None, a_pod()), NOW, SETTINGS).actions) == 1

    def test_nobody_elses_pod_is_touched(self) -> None:
        assert plan_run(see(None, a_pod(ours=False), a_pod("run-9", owner="")), NOW, SETTINGS) == Plan()

    def test_a_run_being_deleted_gets_nothing_new(self) -> None:
        run = a_run(meta={"deletionTimestamp": "2026-01-01T12:00:00Z"})
        assert plan_run(see(run), NOW, SETTINGS) == Plan()
