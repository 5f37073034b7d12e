"""Claims on disk, and names that follow from a cluster."""

from __future__ import annotations

from pathlib import Path

import pytest

from skerry_devcluster.cluster import Claim, Cluster, Mode, read_claim, write_claim

CLAIM = Claim("demo", 2, Mode.FULL, "/state/demo", "boot-1")


def test_a_claim_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "demo" / "instance.json"
    write_claim(path, CLAIM)
    assert read_claim(path) == CLAIM
    assert [entry.name for entry in path.parent.iterdir()] == ["instance.json"]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"name": "demo", "slot": 2, "mode": "Other"}'])
def test_what_is_no_claim(tmp_path: Path, text: str) -> None:
    path = tmp_path / "instance.json"
    assert read_claim(path) is None
    path.write_text(text)
    assert read_claim(path) is None


def test_names(full: Cluster) -> None:
    assert full.api_server == "https://198.18.255.10:6443"
    assert full.registry == "198.18.255.10:5000"
    assert full.image("coredns") == "localhost:5000/skerry-dev/coredns:0123456789abcdef"
    assert "/cache/skerry/bin/containerd-0123456789abcdef" in full.binary_dirs
