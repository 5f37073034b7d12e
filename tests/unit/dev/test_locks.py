"""Locks between processes, and how they end with them."""

from __future__ import annotations

import os
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


WITH_CHILD = """
import sys
from pathlib import Path
from skerry_devcluster.commands import run
from skerry_devcluster.locks import locked
lock, started, fifo = sys.argv[1:]
with locked(Path(lock), lambda who: None):
    run(["sh", "-c", f"echo x >{started}; cat {fifo}"])
"""


def test_the_child_of_a_killed_holder_is_waited_for(tmp_path: Path) -> None:
    path, started, fifo = (tmp_path / name for name in ("a.lock", "started", "fifo"))
    os.mkfifo(fifo)
    os.mkfifo(started)
    holder = subprocess.Popen(
        [sys.executable, "-c", WITH_CHILD, *map(str, (path, started, fifo))], env={"PYTHONPATH": PACKAGE}
    )
    assert started.read_text() == "x\n"
    holder.kill()
    holder.wait()
    heard: list[str] = []

    def waiting(who: str) -> None:
        heard.append(who)
        fifo.write_text("go on\n")  # lets the child end

    with locked(path, waiting):
        assert heard == [str(holder.pid)]
