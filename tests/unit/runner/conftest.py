"""Fixtures of the runner's core."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from skerry_testing.runnerworld import RunnerWorld


@pytest.fixture
async def world() -> AsyncIterator[RunnerWorld]:
    async with RunnerWorld() as made:
        yield made
