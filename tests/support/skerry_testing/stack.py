"""Skerry on a whole cluster of our own: images built and pushed, charts installed. Shared by a session's processes."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from demo.install import SYSTEM, deliver_images, install
from demo.target import parse_status
from images.steps import Steps
from skerry_testing.access import Access
from skerry_testing.controlplane import DEV
from skerry_testing.users import MARKS, shared

__all__ = ["FLUSH", "KEEP_ENV", "Stack", "running_stack"]

KEEP_ENV = "SKERRY_TEST_KEEP"
"""Set it to keep the cluster for a look, or for the next run of the tests."""
LIMIT = 2400  # A first build of everything.
FLUSH: dict[str, Any] = {"profile": "flushed", "dsnSecretRef": {"name": "flushed-dsn", "key": "dsn"}}
"""What the chart's CronJob for memories is told, beside where. Of itself it fires once a year; a test does not wait for it."""
Facts = dict[str, Any]


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
    host_address: str
    """This machine, as Pods reach it."""
    registry: str
    """host:port of the node's registry, outside the Pods' network."""
    values: dict[str, Any]
    """What the chart was told beyond the demo's own values."""
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
def running_stack(instance: str, namespace: str, marks: Path = MARKS) -> Iterator[Stack]:
    """The stack of this test session: its first process brings it up, or to this checkout's state; the last, down.

    Raises RuntimeError saying what failed, or that another session uses the instance.
    """
    base = marks / instance
    note = base / "session.json"
    session = os.environ.get("PYTEST_XDIST_TESTRUNUID") or f"process {os.getpid()}"

    def up(first: bool) -> Stack:
        if first:
            facts = _bring_up(instance, namespace)
            note.write_text(json.dumps({"session": session, "facts": facts}), encoding="utf-8")
        noted = json.loads(note.read_text(encoding="utf-8"))
        if noted["session"] != session:
            raise RuntimeError(
                f"the cluster {instance} is in use by another test session: {noted['session']}"
            )
        return _stack(instance, noted["facts"])

    def down() -> None:
        if not os.environ.get(KEEP_ENV):
            _run(str(DEV), "down", "--wipe", "--name", instance)

    with shared(base, up, down) as stack:
        yield stack


def _bring_up(instance: str, namespace: str) -> Facts:
    """What `skerry-dev status` says, and `images`: component to the reference that the node pulls. As the demo does it."""
    _run(str(DEV), "up", "--name", instance)
    facts: Facts = json.loads(_run(str(DEV), "status", "--name", instance, "-o", "json"))
    target = parse_status(facts)
    built = deliver_images(target)
    flush = {
        **FLUSH,
        "namespace": namespace,
        "schedule": "0 0 1 1 *",
        "allow": [f"{facts['hostAddress']}/32"],
    }
    values = {"memoryFlush": [flush]}
    install(target, built, namespace, Steps("tests"), values)
    images = {
        name: f"{facts['registryPull']}/{image['repository']}:{image['tag']}" for name, image in built.items()
    }
    return {**facts, "images": images, "values": values}


def _stack(instance: str, facts: Facts) -> Stack:
    return Stack(
        instance=instance,
        access=Access.from_kubeconfig(Path(facts["kubeconfig"])),
        kubectl=facts["kubectl"],
        helm=facts["helm"],
        ctr=(facts["ctr"], "-a", facts["containerdSocket"], "-n", "k8s.io"),
        images=facts["images"],
        host_address=facts["hostAddress"],
        registry=facts["registryPush"],
        values=facts["values"],
    )


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
