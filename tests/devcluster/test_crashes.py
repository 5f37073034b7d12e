"""Kill -9 at any moment, of anything: `up` repairs, `down` cleans up."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from skerry_devcluster.cluster import Claim, Mode, write_claim
from skerry_devcluster.ledger import Kind, Ledger, Resource
from skerry_devcluster.procs import Proc

if TYPE_CHECKING:
    from .conftest import Instance, Machine

pytestmark = [pytest.mark.devcluster, pytest.mark.timeout(900)]
CONTROL_PLANE = ["up", "--control-plane-only"]


@pytest.mark.parametrize(
    "moment",
    [
        '"kind": "netns"',
        '"kind": "link"',
        '"kind": "route"',
        '"component": "etcd"',
        '"component": "kube-apiserver"',
    ],
)
@pytest.mark.parametrize("then", ["up", "down"])
def test_up_is_killed_midway(
    instance: Instance, machine: Callable[[], Machine], moment: str, then: str
) -> None:
    before = machine()
    instance.kill_when(lambda text: moment in text, *CONTROL_PLANE)
    if then == "up":
        instance.run(*CONTROL_PLANE)
        assert instance.status()["health"] == "Up"
        started = [entry for entry in instance.ledger().of(Kind.PROCESS) if Proc().running(entry)]
        assert sorted(entry.component for entry in started) == ["etcd", "kube-apiserver"]
    instance.run("down", "--wipe")
    assert instance.traces() == []
    assert machine() == before


@pytest.mark.parametrize("moment", ["/ns/fresh", '"component": "containerd"', '"component": "kubelet"'])
def test_up_of_a_node_is_killed_midway(
    instance: Instance, machine: Callable[[], Machine], moment: str
) -> None:
    before = machine()
    instance.kill_when(lambda text: moment in text, "up")
    instance.run("up")
    assert instance.status()["health"] == "Up"
    instance.run("down", "--wipe")
    assert instance.traces() == []
    assert machine() == before


def test_down_is_killed_midway(instance: Instance, machine: Callable[[], Machine]) -> None:
    before = machine()
    instance.run(*CONTROL_PLANE)
    instance.kill_when(lambda text: '"op": "gone"' in text, "down", "--wipe")
    instance.run("down", "--wipe")
    assert instance.traces() == []
    assert machine() == before


def test_up_replaces_what_was_killed_and_nothing_else(instance: Instance) -> None:
    instance.run("up")
    for component in ("etcd", "kube-scheduler", "containerd", "docker-registry", "kube-network-policies"):
        before = instance.status()["components"]
        os.kill(before[component], signal.SIGKILL)
        assert instance.status()["health"] == "Degraded"
        instance.run("up")
        status = instance.status()
        assert status["health"] == "Up"
        assert {name for name, pid in status["components"].items() if pid != before[name]} == {component}


def test_everything_is_killed_at_once(instance: Instance) -> None:
    instance.run(*CONTROL_PLANE)
    instance.kubectl("create", "configmap", "kept")
    for pid in instance.status()["components"].values():
        os.kill(pid, signal.SIGKILL)
    instance.run(*CONTROL_PLANE)
    assert instance.kubectl("get", "configmap", "kept", "-o", "name").strip() == "configmap/kept"


def test_the_ledger_of_a_former_boot_hurts_nobody(instance: Instance) -> None:
    """What a reboot leaves where /run is on disk: pids, links and mounts that are others' now."""
    instance.run(*CONTROL_PLANE)
    slot = json.loads(instance.paths.claim.read_text())["slot"]
    instance.run("down")
    write_claim(
        instance.paths.claim,
        Claim(instance.name, slot, Mode.CONTROL_PLANE, str(instance.paths.state), "another boot"),
    )
    own = Proc().get(os.getpid())
    assert own is not None
    stale = Ledger(instance.paths.ledger, "another boot")
    stale.make(Resource(Kind.PROCESS, "x/etcd/1", component="etcd", pid=own.pid, start=own.start))
    stale.make(Resource(Kind.LINK, "lo"))
    assert instance.status()["health"] == "Down"
    instance.run(*CONTROL_PLANE)  # this very process lives to see it
    assert instance.status()["health"] == "Up"
    assert [entry for entry in instance.ledger().of(Kind.LINK) if entry.key == "lo"] == []
