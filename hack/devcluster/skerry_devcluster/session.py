"""One call's hold on one instance: its lock, claim, ledger and processes."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from skerry_devcluster.build import binaries, build
from skerry_devcluster.cluster import Claim, Cluster, Mode
from skerry_devcluster.commands import which
from skerry_devcluster.components import Component, components, fingerprint
from skerry_devcluster.errors import UsageError
from skerry_devcluster.host import boot_id, cgroup_version
from skerry_devcluster.instances import live_claim
from skerry_devcluster.kubeapi import KubeApi
from skerry_devcluster.layout import InstancePaths, Layout
from skerry_devcluster.ledger import Ledger
from skerry_devcluster.locks import locked
from skerry_devcluster.packages import CONTROL_PLANE, FULL, ensure_packages
from skerry_devcluster.procs import Proc
from skerry_devcluster.progress import Progress
from skerry_devcluster.render import render
from skerry_devcluster.slots import Slot
from skerry_devcluster.supervisor import Supervisor

__all__ = [
    "Session",
    "cluster_of",
    "instance_lock",
    "new_id",
    "prepare",
    "require_root",
    "require_up",
    "session_of",
]

_TARGETS = {
    Mode.CONTROL_PLANE: ("node",),
    Mode.FULL: ("node", "containerd", "runc", "coredns", "pause"),
}


def new_id() -> str:
    return uuid.uuid4().hex[:16]


def require_root() -> None:
    if os.geteuid() != 0:
        raise UsageError("needs root: it makes network namespaces, mounts and cgroups")


@contextmanager
def instance_lock(paths: InstancePaths, progress: Progress) -> Iterator[None]:
    """One call at a time per instance."""
    with locked(paths.lock, lambda who: progress.say(f"waiting for another skerry-dev (pid {who})")):
        yield


def prepare(mode: Mode, layout: Layout, progress: Progress) -> dict[str, Path]:
    """Every program the mode needs, installed or built."""
    ensure_packages(FULL if mode is Mode.FULL else CONTROL_PLANE, progress)
    programs = binaries(build(_TARGETS[mode], layout, progress))
    if mode is Mode.FULL:
        programs["docker-registry"] = Path(which("docker-registry") or "docker-registry")
    return programs


def cluster_of(claim: Claim, paths: InstancePaths, programs: dict[str, Path]) -> Cluster:
    return Cluster(paths, Slot(claim.slot), claim.mode, programs, cgroup_version())


@dataclass(frozen=True)
class Session:
    """An instance with what is needed to change it."""

    cluster: Cluster
    ledger: Ledger
    supervisor: Supervisor
    texts: dict[str, str]
    components: dict[str, Component]

    @property
    def paths(self) -> InstancePaths:
        return self.cluster.paths

    def api(self) -> KubeApi:
        return KubeApi(str(self.cluster.slot.node_address), self.paths.pki)

    def fingerprint(self, name: str) -> str:
        return fingerprint(self.components[name], self.texts)

    def all_current(self) -> bool:
        return all(self.supervisor.current(name, self.fingerprint(name)) for name in self.components)

    def start(self, *names: str) -> None:
        for name in names:
            self.supervisor.ensure(self.components[name], self.fingerprint(name))


def session_of(claim: Claim, paths: InstancePaths, programs: dict[str, Path]) -> Session:
    """Open the instance's account. Hold its lock."""
    cluster = cluster_of(claim, paths, programs)
    ledger = Ledger(paths.ledger, claim.boot)
    return Session(
        cluster=cluster,
        ledger=ledger,
        supervisor=Supervisor(paths, ledger, Proc(), new_id, cluster.binary_dirs),
        texts=render(cluster),
        components=components(cluster),
    )


def require_up(paths: InstancePaths) -> Claim:
    """The claim of an instance that is up.

    Raises:
        UsageError: it is not.
    """
    claim = live_claim(paths, boot_id())
    if claim is None:
        raise UsageError(f"--name {paths.name}: is not up")
    return claim
