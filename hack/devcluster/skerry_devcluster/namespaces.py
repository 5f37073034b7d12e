"""Network and mount namespace of an instance, kept by bind mounts ("pins").

The mount namespace is why two instances don't meet: containerd, its shims,
the CNI library and the kubelet have paths built in, and each instance sees
a directory of its own there. What is mounted for Pods is not seen outside
and goes with the last process.
"""

from __future__ import annotations

import os
from pathlib import Path

from skerry_devcluster.commands import run
from skerry_devcluster.errors import CommandError
from skerry_devcluster.host import mounts
from skerry_devcluster.layout import InstancePaths
from skerry_devcluster.ledger import Kind, Ledger, Resource

__all__ = [
    "BUILT_IN_PATHS",
    "KUBELET_DIRECTORY",
    "pin_mount_namespace",
    "pin_network_namespace",
    "unpin",
    "within",
]

KUBELET_DIRECTORY = "/var/lib/kubelet"
BUILT_IN_PATHS = ("/run/containerd", "/run/nri", "/var/lib/cni", KUBELET_DIRECTORY, "/var/log/containers")

# Pairs of what is shown and where. What others have pinned must not live on
# in our copy of the mount table, or their `down` would not end their namespaces.
_ARRANGE = r"""set -eu
mount --make-rprivate /
awk '$0 ~ / - nsfs / && ($5 ~ "^/run/netns/" || $5 ~ "^/run/skerry/") {print $5}' /proc/self/mountinfo |
  while read -r point; do umount -l "$point"; done
mount --make-rshared /
while [ $# -gt 0 ]; do
  mkdir -p "$1"
  mount --bind "$1" "$2"
  shift 2
done
"""


def _is_mounted(point: Path) -> bool:
    return any(mount.point == str(point) for mount in mounts())


def pin_network_namespace(paths: InstancePaths, ledger: Ledger) -> None:
    """Make the network namespace if it is not there."""
    pin = paths.netns
    if _is_mounted(pin):
        return
    ledger.make(Resource(Kind.NETNS, str(pin)))
    pin.touch(mode=0o444)
    run(["unshare", f"--net={pin}", "true"])


def pin_mount_namespace(paths: InstancePaths, ledger: Ledger) -> None:
    """Make the mount namespace if it is not there. BUILT_IN_PATHS exist on the machine."""
    pin = paths.mount_namespace
    # the pin stands on a private mount: elsewhere the kernel refuses it, as a loop
    if _is_mounted(pin):
        return
    pin.parent.mkdir(parents=True, exist_ok=True)
    if not _is_mounted(pin.parent):
        ledger.make(Resource(Kind.MOUNT, str(pin.parent)))
        run(["mount", "--bind", str(pin.parent), str(pin.parent)])
    run(["mount", "--make-private", str(pin.parent)])
    # arranged before it gets its name, so that a kill between leaves no half-made one in use
    fresh = pin.with_name("fresh")
    unpin(str(fresh))
    ledger.make(Resource(Kind.MOUNT, str(fresh)))
    fresh.touch()
    pairs = [word for path in BUILT_IN_PATHS for word in (str(_shown_at(paths, path)), path)]
    run(["unshare", f"--mount={fresh}", "sh", "-c", _ARRANGE, "arrange", *pairs])
    ledger.make(Resource(Kind.MOUNT, str(pin)))
    pin.touch()
    run(["mount", "--move", str(fresh), str(pin)])
    ledger.gone(Resource(Kind.MOUNT, str(fresh)))


def _shown_at(paths: InstancePaths, built_in: str) -> Path:
    """The kubelet's directory is data; what else is built in makes sense only while the instance is up."""
    return paths.kubelet if built_in == KUBELET_DIRECTORY else paths.hidden / built_in.lstrip("/")


def within(paths: InstancePaths, *, mounts: bool) -> list[str]:
    """The start of a command line that runs the rest inside. It execs: the pid stays the same.

    Not `ip netns exec`: that remounts /sys and so hides the cgroups.
    """
    return [
        "nsenter",
        f"--net={paths.netns}",
        *([f"--mount={paths.mount_namespace}", f"--wd={os.sep}"] if mounts else []),
        "--",
    ]


def unpin(key: str) -> None:
    """Unmount, however often something was mounted there, and remove the file that held it."""
    point = Path(key)
    while _is_mounted(point):
        try:
            run(["umount", "-l", str(point)])
        except CommandError:
            if _is_mounted(point):
                raise
    if point.is_file():
        point.unlink()
