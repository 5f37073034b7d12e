"""Ending processes: real children, ended for real."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace

import pytest

from skerry_devcluster.procs import Proc, Process
from skerry_devcluster.signals import end, exits

PROC = Proc()
STUBBORN = (
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); signal.pause()"
)
DOCILE = "import signal; print('ready', flush=True); signal.pause()"


class Child:
    def __init__(self, code: str) -> None:
        self.popen = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        assert self.popen.stdout is not None
        assert self.popen.stdout.readline() == b"ready\n"
        found = PROC.get(self.popen.pid)
        assert found is not None
        self.process: Process = found

    def close(self) -> None:
        self.popen.kill()
        self.popen.wait()
        assert self.popen.stdout is not None
        self.popen.stdout.close()


@pytest.fixture
def docile() -> Iterator[Child]:
    child = Child(DOCILE)
    yield child
    child.close()


@pytest.fixture
def stubborn() -> Iterator[Child]:
    child = Child(STUBBORN)
    yield child
    child.close()


def test_term_is_enough_for_most(docile: Child) -> None:
    assert end({docile.process: 30}, proc=PROC) == 0
    assert docile.popen.wait() == -signal.SIGTERM


def test_kill_for_those_who_ignore_it(stubborn: Child) -> None:
    assert end({stubborn.process: 0.2}, proc=PROC) == 0
    assert stubborn.popen.wait() == -signal.SIGKILL


def test_no_grace_is_kill_at_once(docile: Child) -> None:
    assert end({docile.process: 0}, proc=PROC) == 0
    assert docile.popen.wait() == -signal.SIGKILL


def test_each_has_its_own_grace(docile: Child, stubborn: Child) -> None:
    assert end({stubborn.process: 0.1, docile.process: 30}, proc=PROC) == 0
    assert (stubborn.popen.wait(), docile.popen.wait()) == (-signal.SIGKILL, -signal.SIGTERM)


def test_a_reused_pid_is_spared(docile: Child) -> None:
    stranger = replace(docile.process, start=docile.process.start - 1)
    assert end({stranger: 0}, proc=PROC) == 0
    assert docile.popen.poll() is None
    assert exits(stranger, 0, PROC)


def test_one_that_is_not_ours_any_more_is_spared(docile: Child) -> None:
    assert end({docile.process: 0}, proc=PROC, still_ours=lambda _pid: False) == 0
    assert docile.popen.poll() is None
    assert not exits(docile.process, 0.05, PROC)


def test_nobody_left_to_end(docile: Child) -> None:
    docile.popen.kill()
    docile.popen.wait()
    assert end({docile.process: 5}, proc=PROC) == 0
