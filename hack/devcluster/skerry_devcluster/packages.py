"""Programs this machine must have, and the Debian packages they come in."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from skerry_devcluster.commands import run, which
from skerry_devcluster.errors import CommandError, UsageError
from skerry_devcluster.progress import Progress

__all__ = ["BUILD_C", "CONTROL_PLANE", "FULL", "IMAGES", "ensure_packages", "missing_packages"]

# What to look for → the package that brings it. A path is looked up as it is.
CONTROL_PLANE: Mapping[str, str] = {
    "ip": "iproute2",
    "nsenter": "util-linux",
    "mount": "mount",
    "openssl": "openssl",
}
BUILD_C: Mapping[str, str] = {
    "gcc": "gcc",
    "/usr/include/stdlib.h": "libc6-dev",
    "/usr/include/seccomp.h": "libseccomp-dev",
    "pkg-config": "pkg-config",
}
FULL: Mapping[str, str] = {
    **CONTROL_PLANE,
    "/usr/lib/cni/ptp": "containernetworking-plugins",
    "docker-registry": "docker-registry",
    "nft": "nftables",
    "iptables-restore": "iptables",
    "conntrack": "conntrack",
    "ipset": "ipset",
    "newuidmap": "uidmap",
}
IMAGES: Mapping[str, str] = {"buildah": "buildah", "skopeo": "skopeo", "mmdebstrap": "mmdebstrap"}


def missing_packages(needs: Mapping[str, str], present: Callable[[str], bool]) -> list[str]:
    """Packages to install, in a stable order, each once."""
    return sorted({package for probe, package in needs.items() if not present(probe)})


def _present(probe: str) -> bool:
    return Path(probe).exists() if probe.startswith("/") else which(probe) is not None


def ensure_packages(needs: Mapping[str, str], progress: Progress) -> None:
    """Install what is missing, and only that.

    Raises:
        UsageError: something is missing and this is not a machine with apt.
        CommandError: apt failed.
    """
    wanted = missing_packages(needs, _present)
    if not wanted:
        return
    if which("apt-get") is None:
        raise UsageError(f"missing on this machine (names of Debian packages): {', '.join(wanted)}")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    # Another process may be installing: wait for it.
    options = ("-o", "DPkg::Lock::Timeout=300")
    install = ["apt-get", *options, "install", "-y", "-qq", "--no-install-recommends", *wanted]
    progress.say(f"installing {', '.join(wanted)}")
    with progress.step("Debian packages"):
        try:
            run(install, env=env)
        except CommandError:
            # package lists are missing or old
            run(["apt-get", "update", "-qq"], env=env)
            run(install, env=env)
    if "docker-registry" in wanted and Path("/run/systemd/system").exists():
        # Debian starts what it installs; each instance runs a registry of its own instead
        run(["systemctl", "disable", "--now", "docker-registry"])
    if left := missing_packages(needs, _present):
        raise UsageError(
            f"apt installed {', '.join(left)}, yet what they bring is not where it is looked for"
        )
