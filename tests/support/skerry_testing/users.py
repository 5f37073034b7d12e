"""Something dear that several processes use at once: the first brings it up, the last takes it down."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

__all__ = ["MARKS", "shared", "turn"]

T = TypeVar("T")
MARKS = Path(tempfile.gettempdir(), f"skerry-test-{os.getuid()}")
"""Where users leave their marks: one directory for each thing."""


@contextmanager
def shared(base: Path, up: Callable[[bool], T], down: Callable[[], object]) -> Iterator[T]:
    """Count this process among the users of what `base` stands for, and yield what `up` returned.

    `up(first)` is called by every user, `down()` by the last; one process at a time. A killed user's mark doesn't count.
    """
    users = base / "users"
    users.mkdir(parents=True, exist_ok=True)
    mine = users / f"{os.getpid()}-{_start_of(os.getpid())}"
    with _locked(base / "lock", fcntl.LOCK_EX):
        first = not _living(users)
        mine.touch()
        try:
            made = up(first)
        except BaseException:
            mine.unlink()
            raise
    try:
        yield made
    finally:
        with _locked(base / "lock", fcntl.LOCK_EX):
            mine.unlink(missing_ok=True)
            if not _living(users):
                down()


@contextmanager
def turn(base: Path, *, alone: bool) -> Iterator[None]:
    """Side by side with all others that hold a turn, or alone: then everybody else waits."""
    base.mkdir(parents=True, exist_ok=True)
    with _locked(base / "turn", fcntl.LOCK_EX if alone else fcntl.LOCK_SH):
        yield


@contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, how)
        yield


def _living(users: Path) -> list[Path]:
    """The users whose processes live; marks of killed ones are removed."""
    alive = []
    for mark in users.iterdir():
        pid, _, start = mark.name.partition("-")
        if _start_of(int(pid)) == start:
            alive.append(mark)
        else:
            mark.unlink(missing_ok=True)
    return alive


def _start_of(pid: int) -> str | None:
    """Start time of a process in ticks since boot: with the pid it names a process for good."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return None
    return stat.rpartition(")")[2].split()[19]
