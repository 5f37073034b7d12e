"""The cache: filled once, never half; and the progress lines that remember how long things take."""

from __future__ import annotations

import io
from collections.abc import Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest

from images.cache import cache_dir, exclusive, fill_once
from images.steps import Steps, Timings


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "skerry"


def test_an_entry_is_filled_once() -> None:
    target = cache_dir() / "wheels" / "k"
    for round_ in (1, 2):
        with fill_once(target) as fresh:
            assert (fresh is None) == (round_ == 2)
            if fresh is not None:
                (fresh / "a").write_text("x")
    assert (target / "a").read_text() == "x"


def test_a_failed_filling_leaves_no_entry_and_the_next_starts_clean() -> None:
    target = cache_dir() / "wheels" / "k"

    def fill(names: list[str], *, fail: bool) -> None:
        with fill_once(target) as fresh:
            assert fresh is not None
            for name in names:
                (fresh / name).write_text("x")
            if fail:
                raise ValueError("network")

    with pytest.raises(ValueError, match="network"):
        fill(["half"], fail=True)
    assert not target.exists()
    fill(["whole"], fail=False)
    assert [path.name for path in target.iterdir()] == ["whole"]


def _fill(folder: str) -> bool:
    with fill_once(Path(folder)) as fresh:
        if fresh is not None:
            (fresh / "a").write_text("x")
        return fresh is not None


def test_of_many_at_once_one_fills() -> None:
    target = cache_dir() / "wheels" / "k"
    with get_context("fork").Pool(4) as pool:
        filled = pool.map(_fill, [str(target)] * 8)
    assert filled.count(True) == 1


def test_a_lock_is_free_again_after_a_fault() -> None:
    with pytest.raises(ValueError, match="x"), exclusive("l"):
        raise ValueError("x")
    with exclusive("l"):
        pass


def test_a_step_tells_the_last_time_it_took(own_cache: Path) -> None:
    ticks: Iterator[float] = iter([0, 0, 1, 4, 4])
    out = io.StringIO()
    steps = Steps("t", {"build": 60.0}, out, lambda: next(ticks))
    with steps.step("build", "building"):
        pass
    lines = out.getvalue().splitlines()
    assert lines[0].endswith("building (about 60 s)")
    assert lines[1].endswith("building: done in 3.0 s")
    assert steps.timings.expected("build") == 3.0
    assert steps.timings.expected("unknown") is None


def test_a_failed_step_leaves_no_figure(own_cache: Path) -> None:
    steps = Steps("t", {"build": 60.0}, io.StringIO(), lambda: 0.0)
    with pytest.raises(ValueError, match="x"), steps.step("build", "building"):
        raise ValueError("x")
    assert steps.timings.expected("build") == 60.0


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": "b"}'])
def test_broken_figures_are_as_good_as_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(text)
    assert Timings(path, {"a": 2.0}).expected("a") == 2.0
