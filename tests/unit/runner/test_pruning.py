"""What a thread's folder keeps of its runs."""

from __future__ import annotations

import logging
import os
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from skerry_runner.artifacts import ARTIFACTS_FOLDER
from skerry_runner.events import SandboxAcquired
from skerry_runner.journal import FileSink, Journal
from skerry_runner.pruning import JOURNAL, outlived, prune

NOW = datetime(2026, 5, 8, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("runs", "current", "keep", "gone"),
    [
        ("", "c", 1, ""),
        ("abc", "c", 3, ""),
        ("ab", "c", 3, ""),
        ("abd", "c", 3, "a"),
        ("abd", "c", 1, "abd"),
        ("abc", "a", 1, "bc"),
        ("abc", "a", 2, "b"),
        ("aabbab", "c", 2, "a"),
    ],
)
def test_the_oldest_go_and_never_the_one_that_begins(runs: str, current: str, keep: int, gone: str) -> None:
    assert outlived(runs, current, keep) == set(gone)


async def journalled(folder: Path, *runs: str) -> None:
    for run in runs:
        sink = FileSink(folder / JOURNAL)
        made = Journal([sink], run=run, thread="t", epoch=1, clock=lambda: NOW)
        for number in range(3):
            made.emit(SandboxAcquired(sandbox_id=f"sbx-{number}"))
        await made.close()


def names_in(folder: Path) -> list[str]:
    return [each.name for each in folder.iterdir()]


def kept_in(folder: Path) -> list[str]:
    return re.findall(r'"run":"([^"]+)"', (folder / JOURNAL).read_text())


async def test_the_journal_keeps_the_newest_runs_whole_and_in_order(tmp_path: Path) -> None:
    await journalled(tmp_path, "old", "paused", "between", "paused")
    before = (tmp_path / JOURNAL).read_bytes()
    prune(tmp_path, "new", 4)
    assert (tmp_path / JOURNAL).read_bytes() == before
    prune(tmp_path, "new", 3)
    assert kept_in(tmp_path) == ["paused"] * 3 + ["between"] * 3 + ["paused"] * 3
    prune(tmp_path, "new", 2)
    assert kept_in(tmp_path) == ["paused"] * 6
    assert (tmp_path / JOURNAL).stat().st_mode & 0o777 == 0o600
    await journalled(tmp_path, "new")
    prune(tmp_path, "new", 1)
    assert kept_in(tmp_path) == ["new"] * 3
    assert names_in(tmp_path) == [JOURNAL]


def test_lines_that_are_none_of_ours_stay(tmp_path: Path) -> None:
    (tmp_path / JOURNAL).write_bytes(b'{"seq":1,"time":"x","run":"old","a":1}\n\xff"run":"old"\ntorn')
    prune(tmp_path, "new", 1)
    assert (tmp_path / JOURNAL).read_bytes() == b'\xff"run":"old"\ntorn'


def test_artifacts_of_the_runs_that_kept_something_last(tmp_path: Path) -> None:
    for age, run in enumerate(["oldest", "older", "current", "newer"]):
        folder = tmp_path / ARTIFACTS_FOLDER / run
        folder.mkdir(parents=True)
        (folder / "sha").write_text("x")
        os.utime(folder, ns=(age, age))
    prune(tmp_path, "current", 2)
    assert {each.name for each in (tmp_path / ARTIFACTS_FOLDER).iterdir()} == {"current", "newer"}
    prune(tmp_path, "another", 1)
    assert list((tmp_path / ARTIFACTS_FOLDER).iterdir()) == []


async def test_a_folder_that_is_empty_or_whose_journal_is_none(tmp_path: Path) -> None:
    prune(tmp_path / "none", "r", 1)
    prune(tmp_path, "r", 1)
    (tmp_path / JOURNAL).mkdir()
    prune(tmp_path, "r", 1)
    assert names_in(tmp_path) == [JOURNAL]


async def test_where_nothing_can_be_removed_all_stays_and_the_run_begins(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await journalled(tmp_path, "old")
    (tmp_path / f".{JOURNAL}.new").mkdir()
    with caplog.at_level(logging.WARNING, "skerry_runner.pruning"):
        prune(tmp_path, "new", 1)
    assert kept_in(tmp_path) == ["old"] * 3
    assert "old runs could not be removed" in caplog.text
