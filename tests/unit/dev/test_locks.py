"""Locks between processes, and how they end with them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from skerry_devcluster.locks import locked

HOLD = """
import sys, signal
from pathlib import Path
from skerry_devcluster.locks import locked
with locked(Path(sys.argv[1]), lambda who: None):
    print("held", flush=True)
    signal.pause()
"""
PACKAGE = str(Path(__file__).parents[3] / "hack" / "devcluster")


def test_a_killed_holder_frees_its_lock_and_is_named_to_who_waits(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "a.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, env={"PYTHONPATH": PACKAGE}
    )
    assert holder.stdout is not None
    with holder.stdout:
        assert holder.stdout.readline() == b"held\n"
        heard = []

        def waiting(who: str) -> None:
            heard.append(who)
            holder.kill()

        with locked(path, waiting):
            assert heard == [str(holder.pid)]
            assert holder.wait() != 0


def test_a_free_lock_waits_for_nobody(tmp_path: Path) -> None:
    heard: list[str] = []
    for _ in range(2):
        with locked(tmp_path / "a.lock", heard.append):
            pass
    assert heard == []
