"""The cgroup tree that holds an instance's Pods."""

from __future__ import annotations

import os
from pathlib import Path

from skerry_devcluster.errors import CleanupError, StartError
from skerry_devcluster.host import cgroup_roots
from skerry_devcluster.ledger import Kind, Ledger, Resource
from skerry_devcluster.procs import Proc
from skerry_devcluster.signals import end
from skerry_devcluster.waiting import wait_until

__all__ = ["end_members", "make_cgroup", "members", "remove_cgroup"]

_ROUNDS = 50


def _trees(cgroup: str) -> list[Path]:
    return [root / cgroup.lstrip("/") for root in cgroup_roots()]


def make_cgroup(cgroup: str, version: int, ledger: Ledger) -> None:
    """The kubelet's root, which it wants to find in every hierarchy."""
    ledger.make(Resource(Kind.CGROUP, cgroup))
    for tree in _trees(cgroup):
        tree.mkdir(exist_ok=True)
        if version == 1:
            # a new cpuset is empty and would let nothing run in it
            for name in ("cpuset.cpus", "cpuset.mems"):
                own, parent = tree / name, tree.parent / name
                if own.exists() and not own.read_text().strip():
                    own.write_text(parent.read_text())
        else:
            _delegate(tree)


def _delegate(tree: Path) -> None:
    """In cgroup v2 a group has the controllers that its parent hands down."""
    for group in (tree.parent, tree):
        for controller in (tree.parent / "cgroup.controllers").read_text().split():
            try:
                (group / "cgroup.subtree_control").write_text(f"+{controller}")
            except OSError:
                continue  # not for a domain; the kubelet names what it misses


def members(cgroup: str) -> set[int]:
    """Pids in the tree, by any hierarchy."""
    found: set[int] = set()
    for tree in _trees(cgroup):
        for directory, _, _ in os.walk(tree):
            try:
                found.update(int(pid) for pid in (Path(directory) / "cgroup.procs").read_text().split())
            except OSError:
                continue  # removed while we look
    found.discard(0)  # in another pid namespace
    return found


def remove_cgroup(cgroup: str, proc: Proc) -> None:
    """End what is in the tree, then the tree.

    Raises:
        CleanupError: something in it does not die.
    """
    end_members(cgroup, proc)

    def removed() -> bool:
        for tree in _trees(cgroup):
            for directory, _, _ in os.walk(tree, topdown=False):
                try:
                    Path(directory).rmdir()
                except OSError:
                    end_members(cgroup, proc)
                    return False
        return True

    try:
        wait_until(removed, f"cgroup {cgroup} to be empty", seconds=20)
    except StartError as error:
        raise CleanupError(str(error)) from error


def end_members(cgroup: str, proc: Proc) -> None:
    """Kill every process in the tree; a pid is asked again once it is held, so a reused one is spared."""

    def inside(pid: int) -> bool:
        try:
            lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
        except OSError:
            return False
        places = [line.split(":", 2)[2] for line in lines]
        return any(place == cgroup or place.startswith(f"{cgroup}/") for place in places)

    for _ in range(_ROUNDS):  # they may fork while we kill
        processes = [process for pid in members(cgroup) if (process := proc.get(pid)) and process.alive]
        if not processes:
            return
        if stuck := end(dict.fromkeys(processes, 0.0), proc=proc, still_ours=inside):
            raise CleanupError(f"{stuck} processes in {cgroup} would not die")
    raise CleanupError(f"{cgroup} fills faster than it can be emptied")
