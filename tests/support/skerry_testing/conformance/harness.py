"""What a conformance test gets: a sandbox, and where its workspace is."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

from skerry_runner.sandbox.types import Sandbox

__all__ = ["Harness", "alive", "pids"]


@dataclass(frozen=True)
class Harness:
    """`workspace` is the agent's path of the directory that is `real` on this machine, empty at first; so are skills.

    `test` tells this test's keys from those of others in the same sandbox.
    """

    sandbox: Sandbox
    workspace: str
    real: Path
    skills: str
    real_skills: Path
    test: str = "t"

    def key(self, name: str) -> str:
        return f"{self.test}:{name}"


def alive(pid: int) -> bool:
    """Runs, and is not a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


def pids(path: Path) -> list[int]:
    """The process ids that a command wrote there, so far."""
    with contextlib.suppress(FileNotFoundError):
        return [int(line) for line in path.read_text(encoding="utf-8").split()]
    return []
