"""Control plane only: what it offers, what is kept, what is refused."""

from __future__ import annotations

import errno
import json
import sys
from typing import TYPE_CHECKING

import pytest

from skerry_devcluster.slots import SUPERNET, Slot

if TYPE_CHECKING:
    from .conftest import Instance

pytestmark = [pytest.mark.devcluster, pytest.mark.timeout(600)]


def test_an_api_server_with_service_account_tokens(instance: Instance) -> None:
    instance.run("up", "--control-plane-only")
    assert instance.run("kubeconfig").strip() == str(instance.paths.kubeconfig)
    instance.kubectl("create", "serviceaccount", "someone")
    token = instance.kubectl("create", "token", "someone").strip()
    # without the admin's certificate, which would win over the token
    facts = instance.status()
    who = instance.run(
        *("kubectl", "--kubeconfig", "/dev/null", "--server", facts["apiServerAddress"], "--token", token),
        *("--certificate-authority", f"{instance.paths.pki}/ca.crt", "auth", "whoami", "-o", "json"),
    )
    assert json.loads(who)["status"]["userInfo"]["username"] == "system:serviceaccount:default:someone"
    assert json.loads(instance.kubectl("get", "nodes", "-o", "json"))["items"] == []


def test_up_while_up_changes_nothing(instance: Instance) -> None:
    instance.run("up", "--control-plane-only")
    before, written = instance.status()["components"], instance.paths.ledger.read_bytes()
    instance.run("up", "--control-plane-only")
    assert instance.status()["components"] == before
    assert instance.paths.ledger.read_bytes() == written


def test_data_and_addresses_outlive_down_but_not_wipe(instance: Instance) -> None:
    instance.run("up", "--control-plane-only")
    address = instance.status()["apiServerAddress"]
    instance.kubectl("create", "configmap", "kept")
    instance.run("down")
    assert instance.status()["health"] == "Down"
    instance.run("up", "--control-plane-only")
    assert instance.status()["apiServerAddress"] == address
    assert instance.kubectl("get", "configmap", "kept", "-o", "name").strip() == "configmap/kept"
    instance.run("down", "--wipe")
    instance.run("up", "--control-plane-only")
    instance.run("kubectl", "get", "configmap", "kept", code=1)


def test_single_components(instance: Instance) -> None:
    instance.run("up", "--control-plane-only")
    before = instance.status()["components"]
    instance.run("restart", "kube-apiserver", "--kill")
    after = instance.status()["components"]
    assert after["etcd"] == before["etcd"]
    assert after["kube-apiserver"] != before["kube-apiserver"]
    instance.run("stop", "kube-apiserver")
    assert instance.status()["health"] == "Degraded"
    assert instance.status()["components"]["kube-apiserver"] == 0
    instance.run("start", "kube-apiserver")
    assert instance.status()["health"] == "Up"
    instance.run("restart", "kubelet", code=2)


def test_it_cannot_reach_beyond_the_machine(instance: Instance) -> None:
    instance.run("up", "--control-plane-only")
    slot = Slot(instance.status()["slot"])
    routes = json.loads(instance.run("exec", "ip", "-j", "route"))
    assert {route["dst"] for route in routes} == {str(SUPERNET), str(slot.services), str(slot.link)}
    attempt = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=60)"
    # at once and for good: there is no way, not merely no answer
    instance.run(
        "exec",
        sys.executable,
        "-c",
        f"try:\n {attempt}\nexcept OSError as error:\n exit(error.errno)",
        code=errno.ENETUNREACH,
    )


def test_requests_that_cannot_be_met(instance: Instance) -> None:
    instance.run("kubeconfig", code=2)
    instance.run("kubectl", "get", "pods", code=2)
    instance.run("restart", "etcd", code=2)
    instance.run("down")
    instance.run("up", "--control-plane-only")
    instance.run("ctr", "images", "ls", code=2)
    instance.run("load-image", "/nowhere.tar", code=2)
