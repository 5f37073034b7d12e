"""Reading /proc: which process is which.

A pid alone names nothing for long. A process of ours is known by the token
in its environment, or by pid and start time together; a reused pid has
neither. `Proc` takes its root, so tests give it a tree of files.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skerry_devcluster.ledger import Resource

__all__ = ["TOKEN", "Proc", "Process"]

TOKEN = "SKERRY_DEVCLUSTER_TOKEN"
_EXITING = 0x4  # PF_EXITING of the kernel's include/linux/sched.h
_SIGKILL = 1 << (signal.SIGKILL - 1)


@dataclass(frozen=True)
class Process:
    """One process: `start` is in clock ticks after boot, `state` the kernel's letter.

    `dying`: killed, but not gone yet; one that waits for its disk may take seconds.
    """

    pid: int
    start: int
    state: str
    parent: int
    dying: bool = False

    @property
    def alive(self) -> bool:
        return self.state not in "ZX"


class Proc:
    """A view of a proc file system."""

    def __init__(self, root: Path = Path("/proc")) -> None:
        self._root = root

    def get(self, pid: int) -> Process | None:
        try:
            text = (self._root / str(pid) / "stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return None
        # the command name may hold blanks and brackets: fields count from the last bracket
        fields = text.rpartition(")")[2].split()
        dying = bool(int(fields[6]) & _EXITING) or self._killed(pid)
        return Process(pid=pid, state=fields[0], parent=int(fields[1]), start=int(fields[19]), dying=dying)

    def _killed(self, pid: int) -> bool:
        """Whether SIGKILL waits to be taken."""
        try:
            lines = (self._root / str(pid) / "status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            return False
        pending = (line.split()[1] for line in lines if line.startswith(("SigPnd:", "ShdPnd:")))
        return any(int(mask, 16) & _SIGKILL for mask in pending)

    def pids(self) -> Iterator[int]:
        for entry in self._root.iterdir():
            if entry.name.isdecimal():
                yield int(entry.name)

    def token(self, pid: int) -> str | None:
        """The token in a process's environment, None for everybody else's processes."""
        try:
            environment = (self._root / str(pid) / "environ").read_bytes()
        except OSError:
            return None
        prefix = f"{TOKEN}=".encode()
        for entry in environment.split(b"\0"):
            if entry.startswith(prefix):
                return entry.removeprefix(prefix).decode(errors="replace")
        return None

    def bearers(self, prefix: str) -> list[Process]:
        """Living processes with a token that begins so: what we started and what that started, oldest first."""
        found = []
        for pid in self.pids():
            token = self.token(pid)
            if token and token.startswith(prefix) and (process := self.get(pid)) and process.alive:
                found.append(process)
        return sorted(found, key=lambda process: (process.start, process.pid))

    def running(self, resource: Resource) -> Process | None:
        """The living process a ledger entry stands for.

        An entry without a pid was written by a call that was killed before it could note one:
        then the oldest bearer of the token is the process itself, later ones are its children.
        """
        if resource.pid:
            process = self.get(resource.pid)
            return process if process and process.alive and process.start == resource.start else None
        return next(iter(self.bearers(resource.key)), None)
