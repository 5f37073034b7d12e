"""Several calls at once, several instances at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .conftest import Instance

pytestmark = [pytest.mark.devcluster, pytest.mark.timeout(900)]


def test_two_calls_bring_one_instance_up_once(instance: Instance) -> None:
    calls = [instance.start("up", "--control-plane-only") for _ in range(3)]
    assert [call.wait() for call in calls] == [0, 0, 0]
    assert instance.status()["health"] == "Up"
    written = instance.paths.ledger.read_text()
    # planned and started: two lines for each process
    assert written.count('"component": "etcd"') == 2
    assert written.count('"component": "kube-apiserver"') == 2


def test_up_and_down_at_once_end_in_one_or_the_other(instance: Instance) -> None:
    instance.run("up", "--control-plane-only")
    calls = [instance.start("down"), instance.start("up", "--control-plane-only")]
    assert [call.wait() for call in calls] == [0, 0]
    health = instance.status()["health"]
    assert health in {"Up", "Down"}
    assert bool(instance.traces()) is (health == "Up")


def test_two_instances_side_by_side(instance: Instance, another: Instance) -> None:
    calls = [instance.start("up"), another.start("up", "--control-plane-only")]
    assert [call.wait() for call in calls] == [0, 0]
    first, second = instance.status(), another.status()
    assert first["health"] == second["health"] == "Up"
    assert first["slot"] != second["slot"]
    assert not set(first["components"].values()) & set(second["components"].values())
    instance.run("down")
    assert another.status()["health"] == "Up"
    another.kubectl("get", "namespaces")


def test_a_node_outlives_its_neighbours_end(instance: Instance, another: Instance) -> None:
    """They mount over the same directories of the machine: the first to leave must not take them along."""
    calls = [instance.start("up"), another.start("up")]
    assert [call.wait() for call in calls] == [0, 0]
    another.run("down", "--wipe")
    assert instance.run("exec", "ls", "/run/containerd/s").split()
    instance.run("restart", "containerd", "--kill")
    assert instance.status()["health"] == "Up"
