"""Which process is which, on a proc file system made of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from skerry_devcluster.ledger import Kind, Resource
from skerry_devcluster.procs import TOKEN, Proc, Process


class FakeProc:
    """Writes /proc entries as the kernel lays them out."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "self").mkdir()
        (root / "cpuinfo").write_text("no process\n")

    def add(
        self,
        pid: int,
        start: int,
        *,
        name: str = "etcd",
        state: str = "S",
        token: str | None = None,
        flags: int = 0,
        pending: int = 0,
    ) -> None:
        place = self.root / str(pid)
        place.mkdir()
        zeros = " ".join(["0"] * 12)
        (place / "stat").write_text(f"{pid} ({name}) {state} 1 0 0 0 0 {flags} {zeros} {start} 0 0\n")
        (place / "status").write_text(f"Name:\t{name}\nSigPnd:\t{pending:016x}\nShdPnd:\t{0:016x}\n")
        variables = ["PATH=/bin", *([f"{TOKEN}={token}"] if token else [])]
        (place / "environ").write_bytes(b"".join(f"{variable}\0".encode() for variable in variables))


@pytest.fixture
def fake(tmp_path: Path) -> FakeProc:
    return FakeProc(tmp_path)


def entry(pid: int = 0, start: int = 0) -> Resource:
    return Resource(Kind.PROCESS, "family/etcd/1", component="etcd", pid=pid, start=start)


@pytest.mark.parametrize("name", ["etcd", "a b", "x) S 1 (y", "((("])
def test_names_do_not_shift_the_fields(fake: FakeProc, name: str) -> None:
    fake.add(10, 777, name=name)
    assert Proc(fake.root).get(10) == Process(pid=10, start=777, state="S", parent=1)


@pytest.mark.parametrize(
    ("flags", "pending", "dying"),
    [(0x400040, 0, False), (0x400044, 0, True), (0, 1 << 8, True), (0, 1 << 14, False)],
)
def test_who_was_killed_is_dying_while_still_there(
    fake: FakeProc, flags: int, pending: int, dying: bool
) -> None:
    fake.add(10, 777, flags=flags, pending=pending, state="D")
    process = Proc(fake.root).get(10)
    assert process is not None
    assert (process.alive, process.dying) == (True, dying)


def test_nobody(fake: FakeProc) -> None:
    proc = Proc(fake.root)
    assert proc.get(10) is None
    assert proc.token(10) is None
    assert list(proc.pids()) == []


@pytest.mark.parametrize(
    ("pid", "start", "state", "noted", "found"),
    [
        (10, 777, "S", (10, 777), True),
        (10, 778, "S", (10, 777), False),  # the pid was reused
        (11, 777, "S", (10, 777), False),  # it ended
        (10, 777, "Z", (10, 777), False),  # ended, not yet collected
    ],
)
def test_a_noted_process(
    fake: FakeProc, pid: int, start: int, state: str, noted: tuple[int, int], found: bool
) -> None:
    fake.add(pid, start, state=state, token="family/etcd/1")
    running = Proc(fake.root).running(entry(*noted))
    assert (running is not None) is found


def test_a_process_whose_pid_was_never_noted_is_found_by_its_token(fake: FakeProc) -> None:
    fake.add(30, 900, token="family/etcd/1")  # its child
    fake.add(20, 800, token="family/etcd/1")
    fake.add(10, 700, token="family/etcd/2")  # of another start
    running = Proc(fake.root).running(entry())
    assert running is not None
    assert running.pid == 20


def test_a_planned_process_that_never_started(fake: FakeProc) -> None:
    fake.add(10, 700)
    assert Proc(fake.root).running(entry()) is None


def test_bearers_are_those_of_the_family_alone(fake: FakeProc) -> None:
    fake.add(10, 5, token="family/etcd/1")
    fake.add(11, 3, token="family/containerd/2")
    fake.add(12, 4, token="familiar/etcd/1")
    fake.add(13, 4)
    fake.add(14, 6, token="family/etcd/1", state="Z")
    assert [process.pid for process in Proc(fake.root).bearers("family/")] == [11, 10]
