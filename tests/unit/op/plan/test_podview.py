"""Reading Pods: whatever is absent reads as empty, whatever counts is found."""

from __future__ import annotations

from typing import Any

import pytest

from skerry_operator.plan.podview import ContainerView, NodeState, read_pod
from skerry_testing.plans import NOW, a_pod, after, terminated

Json = dict[str, Any]


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"metadata": {}, "status": {}},
        {"metadata": None, "spec": None, "status": None},
        {"status": {"containerStatuses": []}},
    ],
)
def test_an_empty_pod_reads(raw: Json) -> None:
    view = read_pod(raw)
    assert (view.name, view.owner_uid, view.epoch, view.container) == ("", "", 0, ContainerView())
    assert [view.ready, view.finished, view.terminating, view.ours, view.disruption] == [False] * 4 + [None]


def test_a_whole_one() -> None:
    view = a_pod(
        phase="Failed",
        state=terminated(137, "OOMKilled", "msg"),
        deleted=after(30),
        node_state=NodeState.GONE,
    )
    assert (view.name, view.uid, view.owner_uid, view.epoch, view.node) == (
        "run-1",
        "pod-run-1",
        "uid-run",
        1,
        "node-1",
    )
    assert view.container.terminated is not None
    assert (view.container.terminated.exit_code, view.container.terminated.reason) == (137, "OOMKilled")
    assert (view.created, view.deletion_timestamp, view.node_state) == (NOW, after(30), NodeState.GONE)


@pytest.mark.parametrize(("label", "epoch"), [("3", 3), ("x", 0), ("-1", 0), ("", 0), ("٣", 0)])
def test_an_epoch_is_a_plain_number(label: str, epoch: int) -> None:
    assert read_pod({"metadata": {"labels": {"skerry.dev/epoch": label}}}).epoch == epoch


def test_only_a_controller_owns() -> None:
    assert (
        read_pod(
            {"metadata": {"ownerReferences": [{"uid": "a"}, {"uid": "b", "controller": True}]}}
        ).owner_uid
        == "b"
    )
    assert read_pod({"metadata": {"ownerReferences": [{"uid": "a"}]}}).owner_uid == ""


def test_the_document_is_not_kept() -> None:
    view = read_pod(
        {"metadata": {"annotations": {"skerry.dev/document": "x" * 5000, "skerry.dev/template-hash": "h"}}}
    )
    assert view.annotations == {"skerry.dev/template-hash": "h"}


@pytest.mark.parametrize(("status", "found"), [("True", True), ("False", False)])
def test_a_disruption_that_holds(status: str, found: bool) -> None:
    view = a_pod(conditions=[{"type": "DisruptionTarget", "status": status, "reason": "X"}])
    assert (view.disruption is not None) is found
