"""A whole cluster as in tests/e2e, and a small real model beside it: `make test-llm`, on demand."""

from __future__ import annotations

from skerry_testing.onecluster import (
    pytest_collection_modifyitems,
    pytest_runtest_makereport,
    stack,
    turn_of_the_test,
    world,
)

__all__ = ["pytest_collection_modifyitems", "pytest_runtest_makereport", "stack", "turn_of_the_test", "world"]
