"""The whole description of one instance, from which everything is rendered."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from skerry_devcluster.layout import InstancePaths
from skerry_devcluster.slots import Slot

__all__ = ["PULL_REGISTRY", "Claim", "Cluster", "Mode", "read_claim", "write_claim"]

PULL_REGISTRY = "localhost:5000"


class Mode(StrEnum):
    CONTROL_PLANE = "ControlPlane"
    FULL = "Full"


@dataclass(frozen=True)
class Claim:
    """Who an instance is and in which boot it was last up.

    Lies in its run directory while up, beside its state until wiped.
    """

    name: str
    slot: int
    mode: Mode
    state: str
    boot: str


@dataclass(frozen=True)
class Cluster:
    """Inputs of the renderers.

    `binaries` maps every program's name to its path; `binary_dirs` are those directories in PATH's order.
    """

    paths: InstancePaths
    slot: Slot
    mode: Mode
    binaries: Mapping[str, Path]
    cgroup_version: int

    @property
    def name(self) -> str:
        return self.paths.name

    @property
    def api_server(self) -> str:
        return f"https://{self.slot.node_address}:6443"

    @property
    def registry(self) -> str:
        """Where images are pushed to, from the machine and inside."""
        return f"{self.slot.node_address}:5000"

    def image(self, program: str) -> str:
        """The in-cluster reference of an image made from one of our binaries; its tag is the build's key."""
        tag = self.binaries[program].parent.name.rpartition("-")[2]
        return f"{PULL_REGISTRY}/skerry-dev/{program}:{tag}"

    @property
    def binary_dirs(self) -> list[str]:
        return list(dict.fromkeys(str(path.parent) for path in self.binaries.values()))


def read_claim(path: Path) -> Claim | None:
    """The claim in a file; None if there is none (or a kill left half of one: it was not in force yet)."""
    try:
        raw = json.loads(path.read_text())
        return Claim(
            str(raw["name"]), int(raw["slot"]), Mode(raw["mode"]), str(raw["state"]), str(raw["boot"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_claim(path: Path, claim: Claim) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(asdict(claim)) + "\n")
    temporary.replace(path)
