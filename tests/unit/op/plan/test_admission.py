"""plan_admission: oldest first, one run per thread, the namespace's cap, the class of a parked sandbox."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_api.agentrun import AgentRun
from skerry_operator.plan.admission import plan_admission
from skerry_operator.plan.lookup import UNKNOWN, Found, Lookup, Missing
from skerry_operator.plan.position import bucketed
from skerry_operator.plan.resolve import sandbox_name
from skerry_operator.plan.types import AdmissionPlan, Admitted, ObservedQueue, QueueEntry, Waits
from skerry_operator.settings import PlanSettings
from skerry_testing.plans import NOW, NS, a_class, a_profile, a_run, a_sandbox, after

PROFILE = a_profile(allowedClasses=["gpu"])


def decide(
    *runs: AgentRun, cap: int = 2, profile: Lookup[Any] | None = None, pods: tuple[str, ...] = (), **more: Any
) -> AdmissionPlan:
    entries = tuple(QueueEntry(run, profile or Found(PROFILE), run.metadata.name in pods) for run in runs)
    classes = {"default": Found(a_class()), "gpu": Found(a_class("gpu"))}
    observed = ObservedQueue(NS, entries, **{"classes": classes, **more})
    return plan_admission(observed, NOW, PlanSettings("r", "s", max_runs_per_namespace=cap))


def said(plan: AdmissionPlan) -> dict[str, str]:
    return {
        uid.removeprefix("uid-"): "in" if isinstance(each, Admitted) else f"{each.position} {each.reason}"
        for uid, each in plan.decisions.items()
    }


def old(name: str, age: int, **more: Any) -> AgentRun:
    return a_run(name, created=after(-age), **more)


def test_oldest_first_and_then_by_name() -> None:
    # uids are random, so no order to rely on.
    first, second = a_run("a", uid="uid-2", created=NOW), a_run("b", uid="uid-1", created=NOW)
    assert said(decide(second, first, cap=1)) == {"2": "in", "1": "1 NamespaceLimit"}
    runs = [old("c", 1), old("a", 3), old("b", 3), old("d", 0)]
    assert said(decide(*runs)) == {"a": "in", "b": "in", "c": "1 NamespaceLimit", "d": "2 NamespaceLimit"}


@pytest.mark.parametrize(
    "taken",
    [
        {"status": {"phase": "Running", "epoch": 1}},
        {"status": {"phase": "Provisioning"}},
        {"status": {"epoch": 1}},
    ],
)
def test_what_runs_already_counts_though_it_is_younger(taken: dict[str, Any]) -> None:
    assert said(decide(old("a", 9), old("b", 1, **taken), cap=1)) == {"b": "in", "a": "1 NamespaceLimit"}
    assert said(decide(old("a", 9), old("b", 1), cap=1, pods=("b",))) == {"b": "in", "a": "1 NamespaceLimit"}


def test_who_was_admitted_is_not_overtaken_before_its_pod_is_seen() -> None:
    plan = decide(old("a", 9), old("b", 1), cap=1, admitted=frozenset({"uid-b"}))
    assert said(plan) == {"b": "in", "a": "1 NamespaceLimit"}
    assert plan.admitted == {"uid-b"}


def test_the_ended_and_deleted_don_t_count() -> None:
    over = old("a", 9, status={"phase": "Failed", "epoch": 1})
    going = old("b", 8, status={"phase": "Running"}, meta={"deletionTimestamp": "2026-01-01T12:00:00Z"})
    assert said(decide(over, going, old("c", 1), cap=1)) == {"c": "in"}


def test_one_run_per_thread_in_order() -> None:
    runs = [old(name, age, threadId="t") for name, age in (("a", 3), ("b", 2), ("c", 1))]
    assert said(decide(*runs, old("d", 0), cap=9)) == {
        "a": "in",
        "b": "1 ThreadBusy",
        "c": "2 ThreadBusy",
        "d": "in",
    }


def test_same_thread_of_another_user_is_another_thread() -> None:
    runs = (old("a", 2, threadId="t"), old("b", 1, threadId="t", userId="u"))
    assert said(decide(*runs)) == {"a": "in", "b": "in"}


@pytest.mark.parametrize("made", [True, False])
def test_another_class_waits_for_the_parked_sandbox_and_is_not_overtaken(made: bool) -> None:
    first = old("a", 2, threadId="t", sandbox={"classRef": {"name": "gpu"}})
    second = old("b", 1, threadId="t")
    box = {sandbox_name(first): a_sandbox(made=made)}
    assert said(decide(first, second, sandboxes=box)) == {"a": "1 SandboxClassConflict", "b": "2 ThreadBusy"}
    assert said(decide(first, second)) == {"a": "in", "b": "1 ThreadBusy"}


@pytest.mark.parametrize(
    ("run", "profile"),
    [
        (old("a", 9), Missing()),
        (old("a", 9), UNKNOWN),
        (old("a", 9, cancel=True), Found(PROFILE)),
        (old("a", 9, sandbox={"classRef": {"name": "none"}}), Found(PROFILE)),
        (
            old("a", 9, status={"phase": "Pending", "conditions": [{"type": "Ready", "status": "False", "reason": "ConfigMapNotFound", "lastTransitionTime": "2026-01-01T12:00:00Z"}]}),
            Found(PROFILE),
        ),
    ],
)  # fmt: skip
def test_who_waits_for_a_person_holds_up_nobody(run: AgentRun, profile: Lookup[Any]) -> None:
    assert said(decide(run, cap=1, profile=profile)) == {}


def test_an_unprepared_namespace_decides_nothing() -> None:
    assert decide(old("a", 1), prepared=False) == AdmissionPlan({}, frozenset())


def test_deciding_again_changes_nothing() -> None:
    runs = [old(f"r{n}", n, threadId=f"t{n % 3}") for n in range(20)]
    first = decide(*runs, cap=2)
    assert decide(*runs, cap=2, admitted=first.admitted) == first
    waits = [each.position for each in first.decisions.values() if isinstance(each, Waits)]
    assert waits == list(range(1, 19))


@pytest.mark.parametrize(
    ("position", "shown"),
    [(1, 1), (10, 10), (11, 20), (20, 20), (21, 30), (100, 100), (101, 200), (999, 1000)],
)
def test_places_are_exact_to_ten_and_then_in_steps(position: int, shown: int) -> None:
    assert bucketed(position) == shown
