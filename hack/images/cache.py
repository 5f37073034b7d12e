"""Where builds keep what they may need again, and how two of them stay out of each other's way."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["cache_dir", "exclusive", "fill_once"]


def cache_dir() -> Path:
    """`$XDG_CACHE_HOME/skerry`, made if missing."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(base) / "skerry"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def exclusive(name: str) -> Iterator[None]:
    """Only one process at a time; the kernel lets go when the holder dies."""
    lock = cache_dir() / "locks" / f"{name}.lock"
    lock.parent.mkdir(exist_ok=True)
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def fill_once(target: Path) -> Iterator[Path | None]:
    """Yields a folder to fill, or None when `target` is there already.

    The folder becomes `target` by rename at the end: a killed build leaves no half-made cache entry.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(f"{target.parent.name}-{target.name}"):
        if target.exists():
            yield None
            return
        partial = target.with_name(f".{target.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        yield partial
        partial.rename(target)
