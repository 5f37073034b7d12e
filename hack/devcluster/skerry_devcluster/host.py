"""Facts about this machine that decide what is made."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path

from skerry_devcluster.commands import run
from skerry_devcluster.procs import Process

__all__ = [
    "Mount",
    "boot_id",
    "cgroup_roots",
    "cgroup_version",
    "mounts",
    "parse_mounts",
    "parse_routes",
    "routes",
    "started_at",
]


@dataclass(frozen=True)
class Mount:
    """One line of mountinfo."""

    point: str
    fs_type: str
    source: str
    super_options: tuple[str, ...]


def _unescape(text: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text


def parse_mounts(lines: Iterable[str]) -> list[Mount]:
    """The mounts of a mountinfo text, oldest first."""
    found = []
    for line in lines:
        left, _, right = line.partition(" - ")
        fs_type, source, options = right.split(" ", 2)
        found.append(Mount(_unescape(left.split()[4]), fs_type, source, tuple(options.strip().split(","))))
    return found


def mounts() -> list[Mount]:
    return parse_mounts(Path("/proc/self/mountinfo").read_text().splitlines())


def cgroup_version() -> int:
    """2 where /sys/fs/cgroup is the unified hierarchy, else 1."""
    return 2 if Path("/sys/fs/cgroup/cgroup.controllers").exists() else 1


def cgroup_roots() -> list[Path]:
    """Mount points of every cgroup hierarchy."""
    return [Path(mount.point) for mount in mounts() if mount.fs_type in {"cgroup", "cgroup2"}]


def started_at(process: Process) -> float:
    """When a process started, in seconds of the epoch, at most a second too early."""
    (booted,) = (
        int(line.split()[1])
        for line in Path("/proc/stat").read_text().splitlines()
        if line.startswith("btime ")
    )
    return booted - 1 + process.start / os.sysconf("SC_CLK_TCK")


def boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def parse_routes(text: str) -> list[tuple[IPv4Network, str]]:
    """Destination and interface of each route in `ip -j route` output."""
    found = []
    for entry in json.loads(text or "[]"):
        destination = "0.0.0.0/0" if entry["dst"] == "default" else entry["dst"]
        found.append((IPv4Network(destination), entry.get("dev", "")))
    return found


def routes() -> list[tuple[IPv4Network, str]]:
    return parse_routes(run(["ip", "-j", "-4", "route", "show"]))
