"""Sandboxes that nobody holds: parked, expired, destroyed."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_api.agentrun import AgentRun
from skerry_api.sandbox import Sandbox
from skerry_operator.plan.actions import (
    DeletePod,
    DeleteSandbox,
    ProbeIdle,
)
from skerry_operator.plan.lookup import Found
from skerry_operator.plan.podview import PodView
from skerry_operator.plan.sandbox import plan_sandbox
from skerry_operator.plan.types import IdleAnswer, Plan
from skerry_testing.planbox import (
    OVER,
    PARKED,
    PENDING,
    READY,
    asking,
    held,
    pod,
    see,
    status_of,
)
from skerry_testing.plans import NOW, NS, SETTINGS, a_class, a_sandbox, after, conditions

Json = dict[str, Any]


class TestRelease:
    def test_park_stamps_once(self) -> None:
        plan = plan_sandbox(held(a_sandbox(status=READY), pod(), runs=(OVER,)), after(7), SETTINGS)
        status = status_of(plan)
        assert (status["phase"], status["idleSince"]) == ("Parked", "2026-01-01T12:00:07Z")
        assert "holder" not in status
        assert conditions(status)["Ready"] == ("True", "Parked")
        later = plan_sandbox(held(a_sandbox(status=status), pod(), runs=(OVER,)), after(60), SETTINGS)
        assert later == Plan(wake_at=after(607))

    @pytest.mark.parametrize(
        ("kind", "sandbox"),
        [
            (a_class(release="Destroy"), a_sandbox(status=READY)),
            (a_class(), a_sandbox(status=READY, threadId="uid-run")),
            (a_class(), a_sandbox(threadId="uid-run", meta={"ownerReferences": [{"apiVersion": "v", "kind": "AgentRun", "name": "run", "uid": "uid-run"}]})),
        ],
    )  # fmt: skip
    @pytest.mark.parametrize("runs", [(), (OVER,)])
    def test_destroy_deletes(self, kind: Any, sandbox: Sandbox, runs: tuple[AgentRun, ...]) -> None:
        plan = plan_sandbox(held(sandbox, pod(), runs=runs, classes={"default": Found(kind)}), NOW, SETTINGS)
        assert plan.actions == (DeleteSandbox(NS, "sbx", "uid-sbx"),)

    def test_destroy_leaves_nothing_to_the_next_run(self) -> None:
        kind = {"default": Found(a_class(release="Destroy"))}
        observed = held(a_sandbox(status=READY), pod(), runs=(OVER, asking("next")), classes=kind)
        assert plan_sandbox(observed, NOW, SETTINGS).actions == (DeleteSandbox(NS, "sbx", "uid-sbx"),)

    def test_a_retry_keeps_the_sandbox(self) -> None:
        status = {
            "phase": "Provisioning",
            "epoch": 2,
            "podUID": "pod-run-2",
            "sandbox": {"name": "sbx", "state": "Ready"},
        }
        observed = held(a_sandbox(status=READY), pod(), runs=(asking(status=status),))
        said = status_of(plan_sandbox(observed, NOW, SETTINGS))
        assert (said["phase"], said["holder"]["uid"]) == ("Ready", "uid-run")

    def test_the_next_run_of_the_thread_takes_a_parked_one(self) -> None:
        observed = held(a_sandbox(status=PARKED), pod(), runs=(OVER, asking("next")))
        status = status_of(plan_sandbox(observed, after(100), SETTINGS))
        assert (status["phase"], status["holder"]["name"]) == ("Ready", "next")
        assert "idleSince" not in status

    def test_a_parked_one_that_is_busy_has_its_time_to_get_ready(self) -> None:
        observed = held(a_sandbox(status=PARKED), pod(conditions=[]), runs=(asking("next"),))
        status = status_of(plan_sandbox(observed, after(5000), SETTINGS))
        assert (status["phase"], status["holder"]["name"]) == ("Pending", "next")
        late = held(a_sandbox(status=status), pod(conditions=[]), runs=(asking("next"),))
        assert status_of(plan_sandbox(late, after(5600), SETTINGS))["phase"] == "Failed"

    def test_a_run_of_another_class_does_not_keep_it_alive(self) -> None:
        other = asking("next", sandbox={"classRef": {"name": "gpu"}})
        plan = plan_sandbox(held(a_sandbox(status=PARKED), pod(), runs=(other,)), after(600), SETTINGS)
        assert [type(each) for each in plan.actions] == [ProbeIdle]

    @pytest.mark.parametrize("pods", [(), (pod(conditions=[]),)])
    def test_one_that_was_never_of_use_is_dropped(self, pods: tuple[PodView, ...]) -> None:
        observed = held(a_sandbox(status=PENDING), *pods, runs=(OVER,))
        status = status_of(plan_sandbox(observed, NOW, SETTINGS))
        assert status["phase"] == "Terminating"
        plan = plan_sandbox(held(a_sandbox(status=status), *pods, runs=(asking("next"),)), NOW, SETTINGS)
        assert plan.actions == (DeleteSandbox(NS, "sbx", "uid-sbx"),)

    def test_a_parked_one_without_its_pod_holds_nothing(self) -> None:
        status = status_of(plan_sandbox(held(a_sandbox(status=PARKED), runs=()), NOW, SETTINGS))
        assert (status["phase"], conditions(status)["Ready"]) == ("Terminating", ("False", "PodGone"))

    def test_its_pod_is_the_collectors_first(self) -> None:
        observed = see(None, pod(), gone_at=NOW)
        assert plan_sandbox(observed, after(14), SETTINGS) == Plan(wake_at=after(15))
        assert plan_sandbox(observed, after(15), SETTINGS).actions == (DeletePod(NS, "sbx", "pod-sbx"),)
        wanted = see(None, pod(), gone_at=NOW, runs=(asking(),))
        assert plan_sandbox(wanted, NOW, SETTINGS).actions == (DeletePod(NS, "sbx", "pod-sbx"),)


class TestIdle:
    def parked(
        self,
        seconds: float,
        *pods: PodView,
        idle: float | None = None,
        asked_at: float | None = None,
        **spec: Any,
    ) -> Plan:
        probe = IdleAnswer("pod-sbx", after(asked_at), idle) if asked_at is not None else None
        observed = held(a_sandbox(status=PARKED, **spec), *(pods or (pod(),)), runs=(), probe=probe)
        return plan_sandbox(observed, after(seconds), SETTINGS)

    def test_asked_once_at_expiry(self) -> None:
        assert self.parked(599).wake_at == after(600)
        assert self.parked(600).actions == (ProbeIdle(NS, "sbx", "pod-sbx", "http://10.1.1.1:8090"),)

    def test_unused_ends(self) -> None:
        status = status_of(self.parked(600, asked_at=600, idle=600))
        assert (status["phase"], conditions(status)["Ready"][1]) == ("Terminating", "IdleExpired")

    def test_used_since_is_extended_from_then(self) -> None:
        status = status_of(self.parked(600, asked_at=600, idle=100))
        assert (status["phase"], status["idleSince"]) == ("Parked", "2026-01-01T12:08:20Z")

    def test_an_answer_of_before_the_expiry_does_not_count(self) -> None:
        assert [type(each) for each in self.parked(600, asked_at=599, idle=100).actions] == [ProbeIdle]

    def test_silence_is_not_death_and_not_for_ever(self) -> None:
        assert self.parked(610, asked_at=600).wake_at == after(620)
        assert [type(each) for each in self.parked(620, asked_at=600).actions] == [ProbeIdle]
        assert status_of(self.parked(720, asked_at=710))["phase"] == "Terminating"

    def test_one_that_can_not_be_asked_is_kept_as_long(self) -> None:
        unready = pod(conditions=[])
        assert self.parked(600, unready).wake_at == after(720)
        assert status_of(self.parked(720, unready))["phase"] == "Terminating"

    def test_a_liar_dies_of_old_age(self) -> None:
        status = status_of(self.parked(1000, asked_at=999, idle=-1e6, maxLifetimeSeconds=1000))
        assert conditions(status)["Ready"][1] == "LifetimeExceeded"
        week = 7 * 86_400
        status = status_of(self.parked(week, asked_at=week - 1, idle=-1e6))
        assert conditions(status)["Ready"][1] == "LifetimeExceeded"
        status = status_of(self.parked(week - 60, asked_at=week - 60, idle=5.0))
        assert status["phase"] == "Parked"
        holding = held(a_sandbox(status=READY, maxLifetimeSeconds=60), pod())
        assert status_of(plan_sandbox(holding, after(1000), SETTINGS))["phase"] == "Ready"
