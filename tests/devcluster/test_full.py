"""A whole node: Pods, images, names, policies."""

from __future__ import annotations

import hashlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skerry_devcluster.images import write_archive
from skerry_devcluster.network import NODE_INTERFACE
from skerry_devcluster.slots import SUPERNET, Slot
from skerry_testing.wire import tapped

if TYPE_CHECKING:
    from .conftest import Instance

pytestmark = [pytest.mark.devcluster, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def archive(full: Instance, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """An image of the smallest program at hand, under any reference."""
    (program,) = list(full.layout.binaries.glob("pause-*/pause"))[:1]
    directory = tmp_path_factory.mktemp("archives")

    def make(reference: str) -> Path:
        out = (
            directory / f"{hashlib.sha256(reference.encode()).hexdigest()}.tar"
        )  # skopeo splits names at colons
        write_archive(out, reference, program, "65535:65535")
        return out

    return make


def pod(name: str, image: str, **spec: Any) -> str:
    container = {
        "name": "c",
        "image": image,
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    restricted = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {
                "containers": [container],
                "securityContext": restricted,
                "terminationGracePeriodSeconds": 1,
                **spec,
            },
        }
    )


def apply(full: Instance, document: str, *, code: int = 0) -> str:
    done = subprocess.run(
        full.argv("kubectl", "apply", "-f", "-"),
        env=full.env,
        input=document,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stderr


def ready(full: Instance, name: str) -> None:
    full.kubectl("wait", "--for=condition=Ready", f"pod/{name}", "--timeout=120s")


def test_every_component_runs_and_the_node_is_ready(full: Instance) -> None:
    status = full.status()
    assert status["health"] == "Up"
    assert len(status["components"]) == 10
    assert 0 not in status["components"].values()
    node = json.loads(full.kubectl("get", "node", "node", "-o", "json"))
    assert node["status"]["nodeInfo"]["kubeletVersion"] == "v1.37.2"


def test_a_loaded_image_runs_in_the_sandboxed_class_and_a_user_namespace(
    full: Instance, archive: Callable[[str], Path]
) -> None:
    reference = "localhost:5000/loaded:1"
    assert full.run("load-image", str(archive(reference))).split() == [reference]
    apply(full, pod("loaded", reference, runtimeClassName="sandboxed", hostUsers=False))
    ready(full, "loaded")


def test_a_pushed_image_is_pulled(full: Instance, archive: Callable[[str], Path]) -> None:
    source = archive("localhost:5000/other:1")
    reference = full.run("push", f"docker-archive:{source}", "team/pushed:2").strip()
    assert reference == "localhost:5000/team/pushed:2"
    apply(full, pod("pushed", reference))
    ready(full, "pushed")


def test_pod_security_is_enforced(full: Instance) -> None:
    full.kubectl("create", "namespace", "strict")
    full.kubectl("label", "namespace", "strict", "pod-security.kubernetes.io/enforce=restricted")
    document = json.loads(pod("root", "localhost:5000/x:1"))
    document["metadata"]["namespace"] = "strict"
    document["spec"]["hostPID"] = True
    assert "violates PodSecurity" in apply(full, json.dumps(document), code=1)


def reachable(address: str, port: int) -> bool:
    try:
        with socket.create_connection((address, port), timeout=1):
            return True
    except OSError:
        return False


def comes_true(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 60
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def test_network_policies_are_enforced_and_stay_so_without_their_enforcer(full: Instance) -> None:
    listed = json.loads(
        full.kubectl("-n", "kube-system", "get", "pods", "-l", "k8s-app=kube-dns", "-o", "json")
    )
    address = listed["items"][0]["status"]["podIP"]
    assert reachable(address, 8181)
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "deny", "namespace": "kube-system"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
    }
    apply(full, json.dumps(policy))
    assert comes_true(lambda: not reachable(address, 8181))
    full.run("stop", "kube-network-policies")
    assert not reachable(address, 8181)
    full.run("start", "kube-network-policies")
    assert not reachable(address, 8181)
    full.kubectl("-n", "kube-system", "delete", "networkpolicy", "deny")
    assert comes_true(lambda: reachable(address, 8181))


def test_names_resolve(full: Instance) -> None:
    service = json.loads(full.kubectl("-n", "kube-system", "get", "service", "kube-dns", "-o", "json"))
    # a query for kubernetes.default.svc.cluster.local, type A
    labels = b"".join(
        bytes([len(part)]) + part.encode() for part in ["kubernetes", "default", "svc", "cluster", "local"]
    )
    query = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + labels + b"\x00\x00\x01\x00\x01"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.settimeout(30)
        client.sendto(query, (service["spec"]["clusterIP"], 53))
        answer = client.recv(512)
    kubernetes = json.loads(full.kubectl("get", "service", "kubernetes", "-o", "json"))["spec"]["clusterIP"]
    assert socket.inet_ntoa(answer[-4:]) == kubernetes


_OUTWARD = """
import errno, json, socket, sys

def reached(kind, host, family=socket.AF_INET):
    with socket.socket(family, kind) as client:
        client.settimeout(60)
        client.setsockopt(socket.IPPROTO_IP, 11, 1)  # IP_RECVERR: UDP is told, too
        try:
            client.connect((host, 9))
            client.send(b"anybody there?")
            client.recv(1)
        except OSError as error:
            return errno.errorcode.get(error.errno, repr(error))

print(json.dumps([
    reached(socket.SOCK_STREAM, "192.0.2.1"), reached(socket.SOCK_DGRAM, "198.51.100.1"),
    reached(socket.SOCK_STREAM, "2001:db8::1", socket.AF_INET6), reached(socket.SOCK_STREAM, sys.argv[1]),
]))
"""
"""Tries TCP and UDP, both kinds of addresses, and one that can be reached."""


def pid_of(full: Instance, name: str) -> str:
    """The machine's process id of a Pod's container."""
    path = "jsonpath={.status.containerStatuses[0].containerID}"
    container = full.kubectl("get", "pod", name, "-o", path).rpartition("/")[2]
    (line,) = [line for line in full.run("ctr", "tasks", "ls").splitlines() if line.startswith(container)]
    return line.split()[1]


def test_a_pod_cannot_reach_beyond_the_machine(full: Instance, archive: Callable[[str], Path]) -> None:
    reference = "localhost:5000/outward:1"
    full.run("load-image", str(archive(reference)))
    slot = Slot(full.status()["slot"])
    with tapped(slot.host_interface) as wire:
        apply(full, pod("outward", reference))
        apply(full, pod("fetching", "images.example.invalid/x:1"))
        ready(full, "outward")
        program = (sys.executable, "-c", _OUTWARD, str(slot.host_address))
        inside = ("nsenter", "-t", pid_of(full, "outward"), "-n", *program)
        found = json.loads(subprocess.run(inside, capture_output=True, text=True, check=True).stdout)
        message = "jsonpath={.status.containerStatuses[0].state.waiting.message}"
        full.kubectl("wait", f"--for={message}", "pod/fetching", "--timeout=120s")
        seen = wire.destinations()
    # At once and for good: there is no way, not merely no answer.
    assert found == ["ENETUNREACH", "ENETUNREACH", "ENETUNREACH", "ECONNREFUSED"]
    assert slot.host_address in seen, "it hears what comes from a Pod"
    assert [
        each for each in seen if each not in SUPERNET and not (each.is_link_local or each.is_multicast)
    ] == []

    # And the wire that it hears is the only one.
    routes = json.loads(full.run("exec", "ip", "-j", "route"))
    to_pods = {str(address) for address in slot.pods}
    assert {route["dst"]: route.get("dev") for route in routes if route["dst"] not in to_pods} == {
        str(SUPERNET): None, str(slot.services): NODE_INTERFACE, str(slot.link): NODE_INTERFACE,
    }  # fmt: skip


def test_helm_talks_to_this_cluster(full: Instance) -> None:
    assert json.loads(full.run("helm", "list", "-A", "-o", "json")) == []


def test_pods_outlive_a_restart_of_everything_beneath_them(
    full: Instance, archive: Callable[[str], Path]
) -> None:
    reference = "localhost:5000/steady:1"
    full.run("load-image", str(archive(reference)))
    apply(full, pod("steady", reference))
    ready(full, "steady")
    for component in ("containerd", "kubelet", "kube-apiserver"):
        full.run("restart", component, "--kill")
    ready(full, "steady")
    found = json.loads(full.kubectl("get", "pod", "steady", "-o", "json"))
    assert found["status"]["containerStatuses"][0]["restartCount"] == 0


def test_memory(full: Instance) -> None:
    """All of it, Pods' processes aside, in less than 1 GB of memory of its own."""
    total = 0
    for trace in full.traces(full.network_namespace()):
        pid = trace.split()[0]
        try:
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    assert 200_000 < total < 1_000_000  # kB
