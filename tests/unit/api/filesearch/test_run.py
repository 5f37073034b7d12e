"""The worker's process: its end, its room, its descriptors. What it finds is in the conformance suite."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from skerry_api.filesearch.models import FindRequest, FindResult, GrepRequest, GrepResult
from skerry_api.filesearch.run import InvalidSearch, Searcher, SearchFailed, TooSlow, _result
from skerry_testing.eventually import eventually


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "a").write_text("a" * 60 + "\n")
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    yield fd
    os.close(fd)


HOPELESS = GrepRequest(path="/v", pattern="(a+)+$b", limit=1)
ALL = FindRequest(path="/v", glob="*", limit=9)


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_hopeless_search_is_killed(directory: int) -> None:
    before = descriptors()
    with pytest.raises(TooSlow, match="took too long"):
        await Searcher(seconds=0.5, grace=0).search(HOPELESS, GrepResult, directory=directory, file="a")
    assert descriptors() == before


async def test_when_time_runs_out_there_is_what_was_found(directory: int) -> None:
    found = await Searcher(seconds=0.0).search(ALL, FindResult, directory=directory)
    assert (found.incomplete, found.paths) == (True, ())


async def test_a_search_that_nobody_waits_for_is_ended(directory: int) -> None:
    before, searcher = descriptors(), Searcher()
    waiting = [
        asyncio.create_task(searcher.search(HOPELESS, GrepResult, directory=directory, file="a"))
        for _ in range(4)
    ]
    await asyncio.sleep(0)
    for task in waiting:
        task.cancel()
    await asyncio.wait(waiting)
    assert all(task.cancelled() for task in waiting)
    found = await searcher.search(ALL, FindResult, directory=directory)
    assert [entry.path for entry in found.paths] == ["/v/a"]
    await eventually(lambda: descriptors() == before)


async def test_wrong_patterns_name_their_field(directory: int) -> None:
    searcher = Searcher()
    with pytest.raises(InvalidSearch) as caught:
        await searcher.search(GrepRequest(path="/v", pattern="(", limit=1), GrepResult, directory=directory)
    assert caught.value.field == "pattern"


@pytest.mark.parametrize("answer", [b"", b"[]", b"nonsense", b"\xff", b'{"paths": [{"path": 5}]}'])
def test_an_answer_that_makes_no_sense(answer: bytes) -> None:
    with pytest.raises(SearchFailed):
        _result(answer, FindResult)
