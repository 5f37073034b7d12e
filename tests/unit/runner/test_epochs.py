"""A thread's next run, and a run's next epoch: what goes on and what begins anew. Postgres has its own test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from skerry_api.persistence import PersistenceType
from skerry_runner.checkpoint import memory_saver
from skerry_testing.capcases import CAP_CASES
from skerry_testing.resumecases import RESUME_CASES, Keeping
from skerry_testing.statecases import place_in
from skerry_testing.subagentcases import SUBAGENT_CASES


@pytest.fixture(params=["memory", "sqlite"])
def keeping(request: pytest.FixtureRequest, tmp_path: Path) -> Keeping:
    if request.param == "memory":
        return {"checkpointer": memory_saver()}
    return {"place": place_in(PersistenceType.VOLUME, tmp_path)}


@pytest.mark.parametrize("case", [*RESUME_CASES, *SUBAGENT_CASES, *CAP_CASES], ids=lambda case: case.__name__)
async def test_resume(case: Callable[[Keeping], Awaitable[None]], keeping: Keeping) -> None:
    await case(keeping)
