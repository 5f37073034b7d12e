from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio

from skerry_testing.insidestand import InsideStand, inside_stand


@pytest_asyncio.fixture
async def inside(tmp_path: Path) -> AsyncIterator[InsideStand]:
    async with inside_stand(tmp_path) as stand:
        yield stand
