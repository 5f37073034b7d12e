"""What is kept of objects, what is found again, and whom a change wakes."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from skerry_api.agentrun import AgentRun
from skerry_api.names import sandbox_id
from skerry_operator.cache.parse import Unreadable, parse
from skerry_operator.cache.store import Change, Store
from skerry_operator.cache.wakes import wakes
from skerry_operator.keys import Key, queue_key, run_key, sandbox_key
from skerry_operator.kube.kinds import CLASS, POD, PROFILE, RUN, SANDBOX, Kind
from skerry_operator.plan.podview import PodView
from skerry_testing.manifests import a_class, a_profile, a_run, a_sandbox

NOW = datetime(2026, 1, 1, tzinfo=UTC)
BOX = sandbox_id("ns", "default", "t1")
Json = dict[str, Any]


def stored(manifest: Json, version: int = 1, **status: Any) -> Json:
    name = manifest["metadata"]["name"]
    metadata = {
        **manifest["metadata"], "namespace": "ns", "uid": f"uid-{name}", "resourceVersion": str(version), "generation": 1,
    }  # fmt: skip
    return manifest | {"metadata": metadata} | ({"status": status} if status else {})


def a_pod(component: str, name: str = "x", version: int = 1, **labels: str) -> Json:
    given = {"app.kubernetes.io/managed-by": "skerry", "skerry.dev/component": component}
    given |= {f"skerry.dev/{key.replace('_', '-')}": value for key, value in labels.items()}
    return stored({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": given}}, version)


class Listening:
    def __init__(self) -> None:
        self.woken: set[Key] = set()
        self.changes: list[Change] = []
        self.store = Store(self.heard)

    def heard(self, change: Change) -> None:
        self.changes.append(change)
        self.woken |= set(wakes(change, self.store))

    def after(self, kind: Kind, raw: Json) -> set[Key]:
        """Keys that this news alone wakes."""
        self.woken.clear()
        self.store.put(kind, raw)
        return set(self.woken)


RUN_A, QUEUE, BOX_KEY = run_key("ns", "a"), queue_key("ns"), sandbox_key("ns", BOX)


def test_a_new_run_wakes_itself_its_sandbox_and_the_queue() -> None:
    assert Listening().after(RUN, stored(a_run(threadId="t1"))) == {RUN_A, BOX_KEY, QUEUE}


def test_progress_does_not_wake_the_queue_but_a_new_phase_does() -> None:
    here = Listening()
    here.after(RUN, stored(a_run(threadId="t1"), 1, phase="Running", epoch=1))
    runner = {"epoch": 1, "podUID": "u", "progress": {"turn": 3, "modelCalls": 3, "toolCalls": 1}}
    assert here.after(RUN, stored(a_run(threadId="t1"), 2, phase="Running", epoch=1, runner=runner)) == {
        RUN_A, BOX_KEY,
    }  # fmt: skip
    assert QUEUE in here.after(RUN, stored(a_run(threadId="t1"), 3, phase="Succeeded", epoch=1))


def test_a_text_that_is_missing_and_then_there_wakes_the_queue() -> None:
    here = Listening()
    told = {"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T12:00:00Z"}

    def waits(version: int, reason: str) -> set[Key]:
        conditions = [{**told, "reason": reason}]
        return here.after(RUN, stored(a_run(threadId="t1"), version, phase="Pending", conditions=conditions))

    waits(1, "WaitingForAdmission")
    assert waits(2, "ConfigMapNotFound") == {RUN_A, BOX_KEY, QUEUE}
    assert waits(3, "WaitingForAdmission") == {RUN_A, BOX_KEY, QUEUE}
    assert waits(4, "Starting") == {RUN_A, BOX_KEY}


def test_the_same_news_again_wake_nobody() -> None:
    here = Listening()
    here.after(RUN, stored(a_run(), 5))
    assert here.after(RUN, stored(a_run(), 5)) == set()
    assert here.after(RUN, stored(a_run(), 4)) == set()


def test_a_sandbox_wakes_the_live_runs_of_its_thread() -> None:
    here = Listening()
    here.after(RUN, stored(a_run("a", threadId="t1"), 1, phase="Running"))
    here.after(RUN, stored(a_run("b", threadId="t1"), 2, phase="Succeeded"))
    here.after(RUN, stored(a_run("c", threadId="t2"), 3, phase="Running"))
    assert here.after(SANDBOX, stored(a_sandbox(BOX), 4)) == {BOX_KEY, RUN_A, QUEUE}
    assert here.after(SANDBOX, stored(a_sandbox(BOX), 5, phase="Ready")) == {BOX_KEY, RUN_A, QUEUE}
    ready = {"phase": "Ready", "endpoint": "http://198.18.0.1:8090"}
    assert here.after(SANDBOX, stored(a_sandbox(BOX), 6, **ready)) == {BOX_KEY, RUN_A}


def test_pods_wake_their_owners_by_label() -> None:
    here = Listening()
    runner = a_pod("runner", "a-1", 1, run="a", run_uid="uid-a")
    assert here.after(POD, runner) == {RUN_A, QUEUE}
    assert here.after(POD, a_pod("runner", "a-1", 2, run="a", run_uid="uid-a")) == {RUN_A}
    assert here.after(POD, a_pod("sandbox", BOX, 3, sandbox=BOX)) == {BOX_KEY, QUEUE}
    here.woken.clear()
    here.store.drop(POD, "ns", "a-1", 9, NOW)
    assert here.woken == {RUN_A, QUEUE}


def test_profiles_and_classes_wake_who_may_use_them() -> None:
    here = Listening()
    here.after(RUN, stored(a_run("a", threadId="t1"), 1))
    here.after(RUN, stored(a_run("over", threadId="t1"), 2, phase="Failed"))
    here.after(RUN, stored(a_run("other", threadId="t2", profileRef={"name": "q"}), 3))
    assert here.after(PROFILE, stored(a_profile("p"), 4)) == {RUN_A, BOX_KEY, QUEUE}
    labelled = stored(a_profile("p"), 5)
    labelled["metadata"]["labels"] = {"team": "x"}
    assert here.after(PROFILE, labelled) == set(), "nobody reads a profile's labels"
    assert here.after(CLASS, stored(a_class("default"), 6)) == {RUN_A, run_key("ns", "other"), QUEUE}


def test_what_only_costs_memory_is_not_kept() -> None:
    raw = stored(a_run("a", model={"script": "s" * 1000}))
    raw["metadata"]["annotations"] = {
        "kubectl.kubernetes.io/last-applied-configuration": "x" * 300,
        "short": "y",
    }
    raw["metadata"]["managedFields"] = [{"manager": "z" * 300}]
    live = parse(RUN, raw)
    assert isinstance(live, AgentRun)
    assert live.metadata.annotations == {"short": "y"}
    assert live.spec.model is not None
    assert live.spec.model.script is not None
    over = parse(RUN, raw | {"status": {"phase": "Succeeded"}})
    assert isinstance(over, AgentRun)
    assert over.spec.prompt is None
    assert over.spec.model is not None
    assert over.spec.model.script is None
    assert len(raw["metadata"]["annotations"]) == 2, "the object that was given stays as it was"


def test_a_pods_document_is_not_kept() -> None:
    raw = a_pod("runner", "a-1", run="a")
    raw["metadata"]["annotations"] = {"skerry.dev/document": json.dumps({"prompt": "p" * 500})}
    view = parse(POD, raw)
    assert isinstance(view, PodView)
    assert view.annotations == {}


@pytest.mark.parametrize(
    ("status", "started"), [({"phase": "Dreaming"}, False), ({"phase": "Dreaming", "epoch": 2}, True)]
)
def test_what_our_models_refuse_is_kept_as_unreadable(status: Json, started: bool) -> None:
    here = Listening()
    here.store.put(RUN, stored(a_run("a"), 7, **status))
    broken = here.store.unreadable(RUN, "ns", "a")
    assert isinstance(broken, Unreadable)
    assert (broken.path, broken.resource_version, broken.started) == ("status.phase", "7", started)
    assert here.store.run("ns", "a") is None
    assert here.woken == {RUN_A, QUEUE}


def test_runner_pods_are_found_by_name_and_by_uid() -> None:
    store = Listening().store
    store.put(POD, a_pod("runner", "a-1", 1, run="a", run_uid="old"))
    store.put(POD, a_pod("runner", "b-7", 2, run="b", run_uid="uid-a"))
    store.put(POD, a_pod("sandbox", "s", 3, sandbox="s"))
    assert [pod.name for pod in store.runner_pods("ns", "a", "uid-a")] == ["a-1", "b-7"]
    assert [pod.name for pod in store.runner_pods("ns", "a", None)] == ["a-1"]
    assert store.has_pod("ns", "uid-a")
    assert not store.has_pod("ns", "uid-z")


def test_a_strangers_pod_of_the_sandboxs_name_is_found_too() -> None:
    store = Listening().store
    store.put(POD, a_pod("runner", "s", 1, run="a"))
    store.put(POD, a_pod("sandbox", "other-name", 2, sandbox="s"))
    assert [pod.name for pod in store.sandbox_pods("ns", "s")] == ["other-name", "s"]


def test_when_a_run_went_is_remembered() -> None:
    here = Listening()
    assert here.store.gone_at(RUN, "ns", "a") is None
    here.store.put(RUN, stored(a_run("a"), 5))
    assert here.store.gone(RUN, "ns", "a", 5, NOW)
    assert here.store.gone_at(RUN, "ns", "a") == NOW
    assert not here.store.gone(RUN, "ns", "a", 5, NOW)
    assert not here.store.put(RUN, stored(a_run("a"), 5)), "late news of what is gone"
