"""Ending processes without ever hitting a stranger: through pidfds."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack

from skerry_devcluster.procs import Proc, Process

__all__ = ["end", "exits"]


def _open(process: Process, proc: Proc) -> int | None:
    """A pidfd for exactly this process: the start time is compared once the fd holds the pid."""
    try:
        fd = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return None
    now = proc.get(process.pid)
    if now is None or now.start != process.start:
        os.close(fd)
        return None
    return fd


def _wait(fds: set[int], seconds: float) -> set[int]:
    """The fds whose processes still run after at most so long."""
    waiting = set(fds)
    deadline = time.monotonic() + seconds
    poll = select.poll()
    for fd in waiting:
        poll.register(fd, select.POLLIN)
    while waiting and (left := deadline - time.monotonic()) > 0:
        for fd, _ in poll.poll(left * 1000):
            poll.unregister(fd)
            waiting.discard(fd)
    return waiting


def _send(fds: Iterable[int], number: signal.Signals) -> None:
    for fd in fds:
        try:
            signal.pidfd_send_signal(fd, number)
        except ProcessLookupError:
            continue


def end(
    processes: Iterable[Process],
    *,
    grace: float,
    proc: Proc,
    still_ours: Callable[[int], bool] = lambda _pid: True,
) -> int:
    """TERM, then KILL after `grace` seconds (0: KILL at once); waits for the last to be gone.

    Args:
        processes: whom to end; those that are gone already don't matter.
        grace: seconds between the two signals.
        proc: where to look processes up.
        still_ours: asked with a pid that is held and can't be reused any more.

    Returns:
        how many would not die within 10 s of KILL (state D).
    """
    with ExitStack() as stack:
        fds: set[int] = set()
        for process in processes:
            fd = _open(process, proc)
            if fd is None:
                continue
            stack.callback(os.close, fd)
            if still_ours(process.pid):
                fds.add(fd)
        if grace > 0:
            _send(fds, signal.SIGTERM)
            fds = _wait(fds, grace)
        _send(fds, signal.SIGKILL)
        return len(_wait(fds, 10))


def exits(process: Process, seconds: float, proc: Proc) -> bool:
    """Whether the process ends within so many seconds."""
    fd = _open(process, proc)
    if fd is None:
        return True
    try:
        return not _wait({fd}, seconds)
    finally:
        os.close(fd)
