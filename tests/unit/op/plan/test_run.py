"""plan_run as a whole: what is written, and when."""

from __future__ import annotations

from typing import Any

from skerry_api.phases import QueueReason, RunPhase
from skerry_operator.plan.run import plan_run
from skerry_operator.plan.types import Plan, Waits
from skerry_testing.planrun import see, status_of
from skerry_testing.plans import (
    NOW,
    SETTINGS,
    a_pod,
    a_run,
    after,
)

Json = dict[str, Any]


class TestQueueWrites:
    def test_a_place_that_only_moves_is_written_twice_a_minute_at_most(self) -> None:
        first = plan_run(see(a_run(), admission=Waits(5, QueueReason.NAMESPACE_LIMIT, "full")), NOW, SETTINGS)
        run = a_run(status=status_of(first))
        moved = see(run, admission=Waits(4, QueueReason.NAMESPACE_LIMIT, "full"), status_written=NOW)
        assert plan_run(moved, after(29), SETTINGS) == Plan(wake_at=after(30))
        assert status_of(plan_run(moved, after(30), SETTINGS))["queue"]["position"] == 4
        other = see(run, admission=Waits(4, QueueReason.THREAD_BUSY, "busy"), status_written=NOW)
        assert status_of(plan_run(other, after(1), SETTINGS))["queue"]["reason"] == "ThreadBusy"

    def test_the_start_up_clock_does_not_run_in_the_queue(self) -> None:
        queued = status_of(
            plan_run(see(a_run(), admission=Waits(1, QueueReason.NAMESPACE_LIMIT, "full")), NOW, SETTINGS)
        )
        pod = a_pod(phase="Pending")
        status = status_of(plan_run(see(a_run(status=queued), pod), after(100_000), SETTINGS))
        assert status["phase"] == RunPhase.PROVISIONING
        assert status["epochTime"] == "2026-01-02T15:46:40Z"
