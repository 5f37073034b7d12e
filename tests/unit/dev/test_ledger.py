"""The account of what was made."""

from __future__ import annotations

from pathlib import Path

import pytest

from skerry_devcluster.ledger import Kind, Ledger, Resource

NETNS = Resource(Kind.NETNS, "/run/netns/x")
LINK = Resource(Kind.LINK, "skerry0")
ROUTE = Resource(Kind.ROUTE, "198.18.0.0/24", via="skerry0")
ETCD = Resource(Kind.PROCESS, "f/etcd/1", component="etcd", fingerprint="abc")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run" / "ledger.jsonl"


def test_what_is_noted_is_there_for_the_next_call(path: Path) -> None:
    first = Ledger(path, "boot-1")
    for resource in (NETNS, LINK, ROUTE, ETCD):
        first.make(resource)
    started = first.started(ETCD, pid=42, start=7)
    second = Ledger(path, "boot-1")
    assert second.of(Kind.NETNS) == [NETNS]
    assert second.of(Kind.ROUTE) == [ROUTE]
    assert second.processes("etcd") == [started]
    assert second.processes("kubelet") == []


def test_what_is_gone_is_not_listed(path: Path) -> None:
    ledger = Ledger(path, "boot-1")
    ledger.make(LINK)
    ledger.gone(LINK)
    ledger.gone(LINK)
    assert LINK not in ledger
    assert Ledger(path, "boot-1").of(Kind.LINK) == []


def test_a_repeated_note_writes_nothing(path: Path) -> None:
    ledger = Ledger(path, "boot-1")
    ledger.make(LINK)
    before = path.read_bytes()
    ledger.make(LINK)
    assert path.read_bytes() == before


def test_mounts_are_listed_in_the_order_they_were_made(path: Path) -> None:
    ledger = Ledger(path, "boot-1")
    points = [Resource(Kind.MOUNT, key) for key in ("/z", "/a", "/m")]
    for point in points:
        ledger.make(point)
    assert Ledger(path, "boot-1").of(Kind.MOUNT) == points


def test_another_boot_has_none_of_it(path: Path) -> None:
    Ledger(path, "boot-1").make(ETCD)
    ledger = Ledger(path, "boot-2")
    assert ledger.of(Kind.PROCESS) == []
    ledger.make(LINK)
    assert Ledger(path, "boot-2").of(Kind.LINK) == [LINK]


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_a_torn_last_line_is_ignored_and_written_past(path: Path, cut: int) -> None:
    ledger = Ledger(path, "boot-1")
    ledger.make(NETNS)
    ledger.make(LINK)
    path.write_bytes(path.read_bytes()[:-cut])
    torn = Ledger(path, "boot-1")
    # only the newline lost: the note itself is whole
    assert torn.of(Kind.LINK) == ([LINK] if cut == 1 else [])
    torn.make(ROUTE)
    assert Ledger(path, "boot-1").of(Kind.ROUTE) == [ROUTE]
    assert Ledger(path, "boot-1").of(Kind.NETNS) == [NETNS]
