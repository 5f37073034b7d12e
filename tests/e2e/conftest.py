"""Every test here runs on a whole cluster with the chart installed; see skerry_testing.onecluster."""

from __future__ import annotations

from skerry_testing.onecluster import (
    pytest_collection_modifyitems,
    pytest_runtest_makereport,
    stack,
    turn_of_the_test,
    world,
)

__all__ = ["pytest_collection_modifyitems", "pytest_runtest_makereport", "stack", "turn_of_the_test", "world"]
