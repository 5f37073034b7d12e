"""Ending processes without ever hitting a stranger: through pidfds."""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Callable, Iterable, Mapping
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
    graces: Mapping[Process, float],
    *,
    proc: Proc,
    still_ours: Callable[[int], bool] = lambda _pid: True,
) -> int:
    """TERM to all, then KILL to each after its grace (seconds; 0: KILL at once); waits for the last to be gone.

    Args:
        graces: whom to end; those that are gone already don't matter.
        proc: where to look processes up.
        still_ours: asked with a pid that is held and can't be reused any more.

    Returns:
        how many would not die within 10 s of KILL (state D).
    """
    with ExitStack() as stack:
        held: dict[int, float] = {}
        for process, grace in graces.items():
            fd = _open(process, proc)
            if fd is None:
                continue
            stack.callback(os.close, fd)
            if still_ours(process.pid):
                held[fd] = grace
        _send((fd for fd, grace in held.items() if grace > 0), signal.SIGTERM)
        began = time.monotonic()
        for grace in sorted(set(held.values())):
            due = {fd for fd, its in held.items() if its == grace}
            if grace > 0:
                due = _wait(due, began + grace - time.monotonic())
            _send(due, signal.SIGKILL)
        return len(_wait(set(held), 10))


def exits(process: Process, seconds: float, proc: Proc) -> bool:
    """Whether the process ends within so many seconds."""
    fd = _open(process, proc)
    if fd is None:
        return True
    try:
        return not _wait({fd}, seconds)
    finally:
        os.close(fd)
