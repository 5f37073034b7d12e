"""Reap orphans: as PID 1 (or as a subreaper) we inherit what lost its parent, and must wait for it.

Our only child of our own is the spawner; commands hang below supervisors. So whatever is not the spawner
is an orphan, and its status interests nobody.
"""

import os

__all__ = ["reap_orphans"]


def reap_orphans(keep: int | None) -> list[int]:
    """Collect every ended child except `keep`; returns their pids. Never blocks.

    Collect `keep` first if it has ended: while it is a zombie it may hide others.
    """
    reaped: list[int] = []
    while True:
        try:
            found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return reaped
        if found is None or found.si_pid == keep:
            return reaped
        os.waitpid(found.si_pid, 0)
        reaped.append(found.si_pid)
