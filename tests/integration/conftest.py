"""Tests against a real etcd and API server. Without one they fail and say why: nothing is skipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from skerry_testing.fixtures import api, own_plane, plane

__all__ = ["api", "own_plane", "plane"]

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.integration)
            if item.path.is_relative_to(HERE / "chart"):
                item.add_marker(pytest.mark.xdist_group("chart"))  # One release on one API server.
