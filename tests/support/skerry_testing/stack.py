"""Skerry on a whole cluster of our own: images built and pushed, charts installed. Shared by the tests of a session."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from skerry_testing.access import Access
from skerry_testing.controlplane import DEV, ROOT

__all__ = ["KEEP_ENV", "Stack", "running_stack"]

KEEP_ENV = "SKERRY_TEST_KEEP"
"""Set it to keep the cluster for a look, or for the next run of the tests."""
LIMIT = 2400  # A first build of everything.
SYSTEM = "skerry-system"


@dataclass(frozen=True)
class Stack:
    instance: str
    access: Access
    kubectl: str
    helm: str
    ctr: tuple[str, ...]
    """Command that talks to the node's containerd."""
    images: dict[str, str]
    """operator, runner, sandbox → reference that the node pulls."""
    operator_namespace: str = SYSTEM

    def restart(self, component: str) -> None:
        _run(str(DEV), "restart", component, "--name", self.instance)

    def pid_of(self, container_id: str) -> int:
        """The node's process id of a container's first process; id as in a Pod's status."""
        wanted = container_id.rpartition("/")[2]
        for line in _run(*self.ctr, "tasks", "ls").splitlines()[1:]:
            task, pid, *_ = line.split()
            if task == wanted:
                return int(pid)
        raise AssertionError(f"no task {wanted} on the node")


@contextmanager
def running_stack(instance: str, namespace: str) -> Iterator[Stack]:
    """Bring everything up, or bring what is up to this checkout's state. Raises RuntimeError saying what failed."""
    _run(str(DEV), "up", "--name", instance)
    try:
        yield _install(instance, namespace)
    finally:
        if not os.environ.get(KEEP_ENV):
            _run(str(DEV), "down", "--wipe", "--name", instance)


def _install(instance: str, namespace: str) -> Stack:
    facts = json.loads(_run(str(DEV), "status", "--name", instance, "-o", "json"))
    built = json.loads(
        _run(str(ROOT / "hack/skerry-images"), "build", "--push", facts["registryPush"], "-o", "json")
    )
    images = {
        name: f"{facts['registryPull']}/{image['repository']}:{image['tag']}" for name, image in built.items()
    }
    stack = Stack(
        instance=instance,
        access=Access.from_kubeconfig(Path(facts["kubeconfig"])),
        kubectl=facts["kubectl"],
        helm=facts["helm"],
        ctr=(facts["ctr"], "-a", facts["containerdSocket"], "-n", "k8s.io"),
        images=images,
    )
    values = {
        "images": {
            "registry": facts["registryPull"],
            **{name: {"tag": image["tag"]} for name, image in built.items()},
        },
        "runNamespaces": [{"name": namespace, "create": True}],
        "clusterCIDRs": [facts["podCIDR"], facts["serviceCIDR"]],
        # Policies are judged behind the Service: CoreDNS itself listens on 5353.
        "clusterDNS": {"ports": [53, 5353]},
    }
    environment = {"KUBECONFIG": facts["kubeconfig"]}
    helm = (
        stack.helm,
        "upgrade",
        "--install",
        "--wait",
        "--timeout",
        "3m",
        "-n",
        SYSTEM,
        "--create-namespace",
    )
    _run(*helm, "skerry-crds", str(ROOT / "charts/skerry-crds"), env=environment)
    _run(*helm, "skerry", str(ROOT / "charts/skerry"), "-f", "-", env=environment, stdin=json.dumps(values))
    return stack


def _run(*command: str, env: dict[str, str] | None = None, stdin: str | None = None) -> str:
    done = subprocess.run(
        command,
        env={**os.environ, **(env or {})},
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )
    if done.returncode:
        raise RuntimeError(
            f"{' '.join(command)} failed with {done.returncode}:\n{done.stderr[-6000:]}{done.stdout[-6000:]}"
        )
    return done.stdout
