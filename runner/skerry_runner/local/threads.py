"""The data directory: one folder per thread, used by one run at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

__all__ = ["ThreadBusy", "default_data_dir", "held_thread", "thread_folder"]


class ThreadBusy(Exception):
    """Another `skerry run` works on the thread."""


def default_data_dir(env: Mapping[str, str], home: Path) -> Path:
    """The XDG data directory of Skerry."""
    base = env.get("XDG_DATA_HOME", "")
    # The XDG specification has relative paths ignored.
    return (Path(base) if base.startswith("/") else home / ".local" / "share") / "skerry"


def thread_folder(data_dir: Path, sandbox_id: str) -> Path:
    """Where the thread's files (`user-data`) and journal lie."""
    return data_dir / "threads" / sandbox_id


@contextmanager
def held_thread(folder: Path) -> Iterator[None]:
    """Hold the thread. Raises ThreadBusy, or OSError when the folder can't be made."""
    folder.mkdir(parents=True, exist_ok=True)
    # The kernel lets go of the lock whichever way the process ends, so a crash leaves nothing to clean up.
    with (folder / "lock").open("a+", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise ThreadBusy(
                f"another run works on this thread (process {lock.read().strip() or '?'})"
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield
