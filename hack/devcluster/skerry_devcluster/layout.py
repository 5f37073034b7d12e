"""Where things lie on disk. Pure: paths only, nothing is touched.

Build results outlive checkouts (cache), an instance's data outlives `down`
(state), and what only makes sense while it is up goes with it (run).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skerry_devcluster.errors import UsageError

__all__ = ["RECORD", "InstancePaths", "Layout", "layout_from"]

_NAME = re.compile(r"[a-z]([a-z0-9-]{0,18}[a-z0-9])?")
RECORD = "instance.json"
SOURCES = Path(__file__).resolve().parent.parent / "go"


@dataclass(frozen=True)
class InstancePaths:
    """Paths of one named instance."""

    name: str
    state: Path
    run: Path
    lock: Path

    @property
    def ledger(self) -> Path:
        return self.run / "ledger.jsonl"

    @property
    def claim(self) -> Path:
        """What `run` belongs to: name, slot, mode, state. Read by every other instance."""
        return self.run / "instance.json"

    @property
    def record(self) -> Path:
        """The same beside the kept state, so that the slot stays."""
        return self.state / RECORD

    @property
    def pki(self) -> Path:
        return self.state / "pki"

    @property
    def conf(self) -> Path:
        return self.state / "conf"

    @property
    def log(self) -> Path:
        return self.state / "log"

    @property
    def kubelet(self) -> Path:
        """Shown to the kubelet as /var/lib/kubelet: its sockets' paths must be short, this one may be long."""
        return self.state / "kubelet"

    @property
    def volumes(self) -> Path:
        """Directories of the default StorageClass's volumes; they go when the state does."""
        return self.state / "volumes"

    @property
    def kubeconfig(self) -> Path:
        return self.state / "kubeconfig"

    @property
    def containerd_socket(self) -> Path:
        return self.run / "containerd.sock"

    @property
    def mount_namespace(self) -> Path:
        return self.run / "ns" / "mnt"

    @property
    def hidden(self) -> Path:
        """Stands in for paths that programs have built in, /run/containerd and the like."""
        return self.run / "hidden"

    @property
    def cgroup(self) -> str:
        return f"/skerry-{self.name}"

    @property
    def netns_name(self) -> str:
        return f"skerry-{self.name}"

    @property
    def netns(self) -> Path:
        return Path("/run/netns") / self.netns_name

    def component_kubeconfig(self, component: str) -> Path:
        return self.conf / f"{component}.kubeconfig"


@dataclass(frozen=True)
class Layout:
    """Roots of everything."""

    cache: Path
    clusters: Path
    run: Path

    def instance(self, name: str) -> InstancePaths:
        """Paths of an instance.

        Raises:
            UsageError: the name cannot be used.
        """
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"--name {name!r}: lower-case letters, digits and '-', at most 20, a letter first"
            )
        return InstancePaths(name, self.clusters / name, self.run / name, self.locks / f"{name}.lock")

    @property
    def locks(self) -> Path:
        return self.run / ".locks"

    def slot_note(self, slot: int) -> Path:
        """Who had a slot last: its state may be kept where nobody else looks."""
        return self.run / ".slots" / f"{slot}.json"

    @property
    def machine_lock(self) -> Path:
        return self.locks / ".machine"

    @property
    def build_lock(self) -> Path:
        return self.cache / "build.lock"

    @property
    def binaries(self) -> Path:
        return self.cache / "bin"

    @property
    def go_cache(self) -> Path:
        return self.cache / "go-build"

    @property
    def timings(self) -> Path:
        return self.cache / "timings.json"


def layout_from(environ: Mapping[str, str], home: Path) -> Layout:
    """The roots that the XDG variables ask for; relative values are ignored, as their standard says."""

    def root(variable: str, fallback: str) -> Path:
        value = Path(environ.get(variable, ""))
        return value if value.is_absolute() else home / fallback

    return Layout(
        cache=root("XDG_CACHE_HOME", ".cache") / "skerry",
        clusters=root("XDG_STATE_HOME", ".local/state") / "skerry" / "clusters",
        # One machine has one of each network, so this root is not for a user to choose.
        run=Path("/run/skerry"),
    )
