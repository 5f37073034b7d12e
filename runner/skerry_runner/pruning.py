"""Bounds what a thread's folder gathers over its runs: the artifacts and journal of the oldest runs go, a new run's never."""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from skerry_runner.artifacts import ARTIFACTS_FOLDER

__all__ = ["JOURNAL", "outlived", "prune"]

JOURNAL = "journal.jsonl"
"""Of all runs of a thread, in its folder."""
_RUN = re.compile(rb'\{"seq":\d+,"time":"[^"]*","run":"([^"\\]+)"')
log = logging.getLogger(__name__)


def outlived(runs: Iterable[str], current: str, keep: int) -> frozenset[str]:
    """Which of the runs, the oldest first, go: all but `current` and the newest of the others, `keep` in all."""
    others = [run for run in dict.fromkeys(runs) if run != current]
    return frozenset(others[: max(0, len(others) - (keep - 1))])


def prune(folder: Path, current: str, keep: int) -> None:
    """Leave artifacts and journal of `keep` runs, the one with the UID `current` among them, that is about to begin.

    Nobody else may write there meanwhile. Blocking. What can't be removed stays and is logged.
    """
    try:
        _prune_artifacts(folder / ARTIFACTS_FOLDER, current, keep)
        _prune_journal(folder / JOURNAL, current, keep)
    except OSError as error:
        log.warning("old runs could not be removed: %s", error)


def _prune_artifacts(folder: Path, current: str, keep: int) -> None:
    if not folder.is_dir():
        return
    # A folder changes with each file that comes into it.
    runs = sorted(
        (each for each in folder.iterdir() if each.is_dir()), key=lambda each: each.stat().st_mtime_ns
    )
    for run in outlived((each.name for each in runs), current, keep):
        shutil.rmtree(folder / run)


def _prune_journal(path: Path, current: str, keep: int) -> None:
    if not path.is_file():
        return
    runs: dict[str, None] = {}
    with path.open("rb") as lines:
        for line in lines:
            if (run := _run_of(line)) is not None:
                # By its last line: a run may have more epochs after another has begun.
                runs.pop(run, None)
                runs[run] = None
    if gone := outlived(runs, current, keep):
        _without(path, gone)


def _run_of(line: bytes) -> str | None:
    found = _RUN.match(line)
    return found[1].decode("utf-8", "replace") if found else None


def _without(path: Path, gone: frozenset[str]) -> None:
    """All at once: a crash leaves the old file or the new one."""
    new = path.with_name(f".{path.name}.new")
    try:
        with (
            path.open("rb") as old,
            os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out,
        ):
            out.writelines(line for line in old if _run_of(line) not in gone)
            out.flush()
            os.fsync(out.fileno())
        new.replace(path)
    except OSError:
        with suppress(OSError):
            new.unlink(missing_ok=True)
        raise
