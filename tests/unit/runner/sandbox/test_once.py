"""At most once by key, in one process."""

from __future__ import annotations

import pytest

from skerry_runner.sandbox.errors import CommandConflict, SandboxUnavailable
from skerry_runner.sandbox.once import Once
from skerry_runner.sandbox.types import ExecResult

RESULT = ExecResult(exit_code=0, signal=None, chunks=(), duration_ms=1)


async def test_runs_once_and_conflicts() -> None:
    once, runs = Once(), 0

    async def start() -> ExecResult:
        nonlocal runs
        runs += 1
        return RESULT

    for _ in range(2):
        assert await once.run("k", "content", start, None) is RESULT
    with pytest.raises(CommandConflict):
        await once.run("k", "other", start, None)
    assert runs == 1


async def test_what_could_not_start_may_be_tried_again() -> None:
    once, tries = Once(), 0

    async def start() -> ExecResult:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise SandboxUnavailable("no process")
        return RESULT

    with pytest.raises(SandboxUnavailable):
        await once.run("k", "content", start, None)
    assert await once.run("k", "content", start, None) is RESULT


async def test_only_so_many_are_kept() -> None:
    once = Once()

    async def start() -> ExecResult:
        return RESULT

    for n in range(200):
        await once.run(f"k{n}", "content", start, None)
    # An old key is forgotten with its content; a new one is not.
    await once.run("k0", "other", start, None)
    with pytest.raises(CommandConflict):
        await once.run("k199", "other", start, None)
