"""Locks between calls of this command: flock, so that a kill frees them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["held", "locked"]

_held: set[int] = set()


def held() -> tuple[int, ...]:
    """The locks' file descriptors, for children that change things on the holder's behalf.

    A lock is free only when every copy of its descriptor is closed: if the holder is killed, the
    next one still waits for the child that was in the middle of something.
    """
    return tuple(_held)


@contextmanager
def locked(path: Path, waiting: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock; `waiting` hears who has it if it isn't free."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # The file stays: removing a lock file lets two holders believe in two files.
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting(os.pread(fd, 64, 0).decode().strip() or "unknown")
            fcntl.flock(fd, fcntl.LOCK_EX)
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        _held.add(fd)
        yield
    finally:
        _held.discard(fd)
        os.close(fd)
