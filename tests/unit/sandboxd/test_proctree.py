"""Process trees: parsing, and walking a table."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import replace

import pytest

from skerry_sandboxd.proctree import Proc, descendants, parse_stat, read_proc, send_to


def test_parse_stat_with_an_awkward_name() -> None:
    tail = "S 10 20 30 " + " ".join(str(n) for n in range(40, 60))
    assert parse_stat(f"7 (a) b) ({chr(10)}c) {tail}") == Proc(pid=7, ppid=10, pgrp=20, state="S", start=55)


@pytest.mark.parametrize("text", ["", "7", "7 (x) S 1", "x (y) " + "1 " * 30])
def test_parse_stat_refuses(text: str) -> None:
    with pytest.raises(ValueError):
        parse_stat(text)


def proc(pid: int, ppid: int, state: str = "S") -> Proc:
    return Proc(pid, ppid, pid, state, 1)


def test_descendants() -> None:
    table = {p.pid: p for p in (proc(1, 0), proc(2, 1), proc(3, 2), proc(4, 2, "Z"), proc(5, 4), proc(6, 1))}
    assert [p.pid for p in descendants(2, table)] == [3, 5]
    assert sorted(p.pid for p in descendants(1, table)) == [2, 3, 5, 6]
    assert descendants(99, table) == []


def test_a_loop_in_a_torn_table_ends() -> None:
    # Two reads of a changing /proc may disagree.
    assert [p.pid for p in descendants(2, {2: proc(2, 3), 3: proc(3, 2)})] == [3]


def test_read_proc_finds_us() -> None:
    table = read_proc()
    assert table[os.getpid()].ppid == os.getppid()


def test_a_pid_that_is_anothers_by_now_is_not_signalled() -> None:
    with subprocess.Popen(["sleep", "60"]) as child:
        now = read_proc()[child.pid]
        assert not send_to(replace(now, start=now.start - 1), signal.SIGKILL)
        assert child.poll() is None
        assert send_to(now, signal.SIGKILL)
        assert child.wait() == -signal.SIGKILL
    assert not send_to(now, signal.SIGKILL)
