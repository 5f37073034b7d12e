"""What an instance made on this machine: written down before it is made.

An append-only file of JSON lines, so that kill -9 at any point leaves a
readable account. `down` removes what stands here and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path

__all__ = ["Kind", "Ledger", "Resource", "fold"]


class Kind(StrEnum):
    FAMILY = "family"  # key: what the tokens of all processes of an instance begin with
    PROCESS = "process"  # key: the token in its environment
    MOUNT = "mount"  # key: mount point in the machine's own mount namespace
    NETNS = "netns"  # key: path of the handle
    LINK = "link"  # key: interface name
    ROUTE = "route"  # key: destination; via: interface
    CGROUP = "cgroup"  # key: path below every hierarchy


@dataclass(frozen=True)
class Resource:
    """One thing on the machine. `pid` and `start` (clock ticks after boot) are 0 until a process runs."""

    kind: Kind
    key: str
    via: str = ""
    component: str = ""
    fingerprint: str = ""
    pid: int = 0
    start: int = 0

    @property
    def id(self) -> tuple[Kind, str]:
        return (self.kind, self.key)


def fold(lines: Iterable[str], boot_id: str) -> dict[tuple[Kind, str], Resource]:
    """The resources that may exist now, in the order they were made.

    A torn last line is what a kill leaves: it was written before its effect, so there is none.
    Every kind lives in the kernel's memory: what a former boot made went with it.
    """
    held: dict[tuple[Kind, str], Resource] = {}
    for line in lines:
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            continue
        if entry["op"] == "made":
            resource = Resource(**{**entry["resource"], "kind": Kind(entry["resource"]["kind"])})
            if entry["bootId"] == boot_id:
                held[resource.id] = resource
        elif entry["op"] == "gone":
            held.pop((Kind(entry["kind"]), entry["key"]), None)
    return held


class Ledger:
    """The account of one instance. Call `make` before the effect and `gone` after its removal."""

    def __init__(self, path: Path, boot_id: str) -> None:
        self._path = path
        self._boot_id = boot_id
        lines = path.read_text().splitlines() if path.exists() else []
        self._held = fold(lines, boot_id)
        self._torn = bool(lines) and not path.read_text().endswith("\n")

    def __contains__(self, resource: Resource) -> bool:
        return resource.id in self._held

    def make(self, resource: Resource) -> None:
        """Note a resource; a repeated note of the same one replaces it."""
        if self._held.get(resource.id) == resource:
            return
        self._append({"op": "made", "bootId": self._boot_id, "resource": asdict(resource)})
        self._held[resource.id] = resource

    def started(self, resource: Resource, pid: int, start: int) -> Resource:
        """Note which process a planned one became."""
        running = replace(resource, pid=pid, start=start)
        self.make(running)
        return running

    def gone(self, resource: Resource) -> None:
        if resource.id in self._held:
            self._append({"op": "gone", "kind": resource.kind, "key": resource.key})
            del self._held[resource.id]

    def of(self, kind: Kind) -> list[Resource]:
        """Resources of a kind, oldest first."""
        return [resource for resource in self._held.values() if resource.kind is kind]

    def processes(self, component: str) -> list[Resource]:
        return [resource for resource in self.of(Kind.PROCESS) if resource.component == component]

    def _append(self, entry: dict[str, object]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:
            file.write(("\n" if self._torn else "") + json.dumps(entry) + "\n")
        self._torn = False
