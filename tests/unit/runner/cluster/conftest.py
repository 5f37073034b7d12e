from __future__ import annotations

from pathlib import Path

import pytest

from skerry_testing.runnerpod import Pod


@pytest.fixture
async def pod(tmp_path: Path) -> Pod:
    return Pod(tmp_path)
