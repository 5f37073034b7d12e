"""Process trees from /proc, and ending one for good. Standard library only: the spawner imports this too.

A tree is named by its supervisor, a child subreaper: whatever its members do (double fork, setsid), they
stay its descendants, so the walk by parent finds all of them.
"""

import contextlib
import os
import signal
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

__all__ = [
    "Proc",
    "descendants",
    "kill_descendants",
    "parse_stat",
    "read_proc",
    "send_to",
    "signal_descendants",
]


@dataclass(frozen=True)
class Proc:
    """One line of the process table; `start` (clock ticks since boot) tells a reused pid from the old one."""

    pid: int
    ppid: int
    pgrp: int
    state: str
    start: int


def parse_stat(text: str) -> Proc:
    """Parse /proc/<pid>/stat. The command name in it may hold blanks and parentheses. Raises ValueError."""
    head, _, tail = text.rpartition(")")
    pid = head.split(" ", 1)[0]
    fields = tail.split()
    if len(fields) < 20:
        raise ValueError("not a stat line")
    return Proc(int(pid), int(fields[1]), int(fields[2]), fields[0], int(fields[19]))


def read_proc() -> dict[int, Proc]:
    """All processes that can be seen; those that vanish while we look are left out."""
    table = {}
    for name in os.listdir("/proc"):  # noqa: PTH208  # hot path
        if not name.isdecimal():
            continue
        with contextlib.suppress(OSError, ValueError):
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123  # hot path
                proc = parse_stat(file.read())
            table[proc.pid] = proc
    return table


def descendants(root: int, table: Mapping[int, Proc]) -> list[Proc]:
    """Everything below `root` (not itself), parents before children, zombies left out."""
    children: defaultdict[int, list[Proc]] = defaultdict(list)
    for proc in table.values():
        children[proc.ppid].append(proc)
    found: list[Proc] = []
    queue = [root]
    while queue:
        for child in children.pop(queue.pop(), ()):
            found.append(child)
            queue.append(child.pid)
    return [proc for proc in found if proc.state not in {"Z", "X"} and proc.pid != root]


def signal_descendants(root: int, number: int, *, pgrp: int | None = None) -> int:
    """Signal every descendant of `root`, or those of one process group. Returns how many."""
    return _send(descendants(root, read_proc()), number, lambda proc: pgrp is None or proc.pgrp == pgrp)


def kill_descendants(root: int, *, rounds: int = 50) -> int:
    """End every descendant of `root`. Returns how many were seen in all.

    They are stopped first, until no new one shows up: a tree that forks as fast as we kill can't outrun us.
    """
    seen: set[tuple[int, int]] = set()
    for _ in range(rounds):
        fresh = [proc for proc in descendants(root, read_proc()) if (proc.pid, proc.start) not in seen]
        if not fresh:
            break
        seen.update((proc.pid, proc.start) for proc in fresh)
        _send(fresh, signal.SIGSTOP)
    # Orphans of killed parents move up to the root and are found again.
    for _ in range(rounds):
        left = descendants(root, read_proc())
        seen.update((proc.pid, proc.start) for proc in left)
        if not _send(left, signal.SIGKILL):
            break
    return len(seen)


def _send(procs: Iterable[Proc], number: int, wanted: Callable[[Proc], bool] = lambda _: True) -> int:
    return sum(send_to(proc, number) for proc in procs if wanted(proc))


def send_to(proc: Proc, number: int) -> bool:
    """Signal exactly this process; False if it has gone, even if its pid is another's by now."""
    try:
        pidfd = os.pidfd_open(proc.pid)
    except (ProcessLookupError, PermissionError):
        return False
    try:
        # The descriptor pins whoever has the pid now; a tree that forks fast makes pids wrap within seconds.
        with open(f"/proc/{proc.pid}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123  # hot path
            if parse_stat(file.read()).start != proc.start:
                return False
        signal.pidfd_send_signal(pidfd, number)
    except (OSError, ValueError):
        return False
    finally:
        os.close(pidfd)
    return True
