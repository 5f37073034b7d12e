"""Clusters that exist on paper only."""

from __future__ import annotations

from pathlib import Path

import pytest

from skerry_devcluster.cluster import Cluster, Mode
from skerry_devcluster.layout import layout_from
from skerry_devcluster.slots import Slot
from skerry_devcluster.targets import TARGETS


def paper_cluster(
    mode: Mode = Mode.FULL, *, name: str = "demo", slot: int = 2, cgroup_version: int = 1
) -> Cluster:
    """A cluster of the mode with made-up paths."""
    layout = layout_from({"XDG_CACHE_HOME": "/cache", "XDG_STATE_HOME": "/state"}, Path("/home/x"))
    binaries = {
        program: Path(f"/cache/skerry/bin/{target.name}-0123456789abcdef/{program}")
        for target in TARGETS.values()
        for program in (*target.binaries, *target.links)
    }
    binaries["docker-registry"] = Path("/usr/bin/docker-registry")
    return Cluster(layout.instance(name), Slot(slot), mode, binaries, cgroup_version)


@pytest.fixture
def full() -> Cluster:
    return paper_cluster()


@pytest.fixture
def control_plane() -> Cluster:
    return paper_cluster(Mode.CONTROL_PLANE)


@pytest.fixture
def unified() -> Cluster:
    """On a machine with cgroup v2."""
    return paper_cluster(cgroup_version=2)


@pytest.fixture
def neighbour() -> Cluster:
    """Another instance on the same machine."""
    return paper_cluster(name="test", slot=5)
