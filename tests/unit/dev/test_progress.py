"""Progress lines and estimates."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from skerry_devcluster.progress import BUILTIN_SECONDS, Progress, Timings, describe, seconds_text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0.0 s"), (0.44, "0.4 s"), (9.94, "9.9 s"), (12.4, "12 s"), (119.4, "119 s"), (453, "7 min 33 s")],
)
def test_durations(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


@pytest.mark.parametrize(
    ("elapsed", "expected", "done", "line"),
    [
        (0, 12, False, "build … (expected about 12 s)"),
        (30, 12, False, "build: 30 s so far (expected about 12 s)"),
        (3.2, 12, True, "build: done in 3.2 s (expected about 12 s)"),
        (3.2, None, True, "build: done in 3.2 s (not measured yet)"),
    ],
)
def test_lines(elapsed: float, expected: float | None, done: bool, line: str) -> None:
    assert describe("build", elapsed, expected, done=done) == line


def test_the_last_measured_run_wins_over_the_built_in_figure(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "timings.json"
    timings = Timings(path)
    assert timings.expected("API server") == BUILTIN_SECONDS["API server"]
    assert timings.expected("something new") is None
    timings.record("API server", 2.345)
    assert Timings(path).expected("API server") == 2.35


@pytest.mark.parametrize("text", ["", "{", "[]", '{"API server": "soon"}', '{"API server": null}'])
def test_a_broken_file_of_timings_is_no_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "timings.json"
    path.write_text(text)
    assert Timings(path).expected("API server") == BUILTIN_SECONDS["API server"]


def test_a_step_is_announced_timed_and_kept(tmp_path: Path) -> None:
    out = io.StringIO()
    with Progress(Timings(tmp_path / "t"), out).step("API server", announce=True):
        pass
    first, second = out.getvalue().splitlines()
    assert first.endswith("API server … (expected about 3.5 s)")
    assert "API server: done in" in second
    assert Timings(tmp_path / "t").expected("API server") != BUILTIN_SECONDS["API server"]


def test_half_a_step_is_no_measure(tmp_path: Path) -> None:
    with Progress(Timings(tmp_path / "t"), io.StringIO()).step("API server", whole=False):
        pass
    assert not (tmp_path / "t").exists()


def test_a_failed_step_is_no_measure(tmp_path: Path) -> None:
    out = io.StringIO()
    with pytest.raises(RuntimeError), Progress(Timings(tmp_path / "t"), out).step("API server"):
        raise RuntimeError
    assert out.getvalue() == ""
    assert not (tmp_path / "t").exists()


def test_two_calls_that_measure_at_once_keep_each_others_figures(tmp_path: Path) -> None:
    first, second = Timings(tmp_path / "t"), Timings(tmp_path / "t")
    first.record("a", 1)
    second.record("b", 2)
    assert (Timings(tmp_path / "t").expected("a"), Timings(tmp_path / "t").expected("b")) == (1, 2)
