from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from skerry_testing.apiserver import ApiServer
from skerry_testing.runnerepoch import Epoch, prepare


@pytest.fixture
async def epoch(api: ApiServer, tmp_path: Path) -> AsyncIterator[Epoch]:
    await prepare(api)
    async with Epoch.made(api, tmp_path) as it:
        yield it
