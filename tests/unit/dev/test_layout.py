"""Names and paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from skerry_devcluster.errors import UsageError
from skerry_devcluster.layout import layout_from

HOME = Path("/home/someone")


def test_roots_follow_xdg() -> None:
    layout = layout_from({"XDG_CACHE_HOME": "/c", "XDG_STATE_HOME": "/s"}, HOME)
    assert layout.cache == Path("/c/skerry")
    assert layout.clusters == Path("/s/skerry/clusters")


@pytest.mark.parametrize("environ", [{}, {"XDG_CACHE_HOME": "", "XDG_STATE_HOME": "relative/path"}])
def test_unset_and_relative_roots_fall_back(environ: dict[str, str]) -> None:
    layout = layout_from(environ, HOME)
    assert layout.cache == HOME / ".cache/skerry"
    assert layout.clusters == HOME / ".local/state/skerry/clusters"


def test_paths_of_an_instance_carry_its_name() -> None:
    paths = layout_from({}, HOME).instance("demo-2")
    assert paths.run == Path("/run/skerry/demo-2")
    assert paths.netns == Path("/run/netns/skerry-demo-2")
    assert paths.cgroup == "/skerry-demo-2"
    assert paths.lock.parent == Path("/run/skerry/.locks")


@pytest.mark.parametrize("name", ["", "A", "1a", "-a", "a-", "a/b", "..", "a_b", "a" * 21, "a\n"])
def test_names_that_cannot_be_used(name: str) -> None:
    with pytest.raises(UsageError, match="--name"):
        layout_from({}, HOME).instance(name)


@pytest.mark.parametrize("name", ["a", "dev", "test-1", "a" * 20])
def test_names_that_can(name: str) -> None:
    assert layout_from({}, HOME).instance(name).name == name


def test_socket_paths_fit_the_kernels_limit() -> None:
    longest = layout_from({}, HOME).instance("a" * 20)
    assert len(f"{longest.containerd_socket}.ttrpc") < 108
