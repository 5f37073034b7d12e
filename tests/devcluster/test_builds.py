"""The build cache, with the one target that builds in a second."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = [pytest.mark.devcluster, pytest.mark.timeout(300)]
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def build(tmp_path: Path) -> Callable[[], subprocess.Popen[str]]:
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    command = [str(ROOT / "hack" / "skerry-dev"), "build", "pause"]
    return lambda: subprocess.Popen(
        command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_two_builds_at_once_build_once(build: Callable[[], subprocess.Popen[str]], tmp_path: Path) -> None:
    results = [process.communicate() for process in [build(), build()]]
    places = {out.split("\t")[1].strip() for out, _ in results}
    assert len(places) == 1
    assert sum(err.count("build pause: done") for _, err in results) == 1
    assert os.access(Path(places.pop()) / "pause", os.X_OK)
    assert list((tmp_path / "skerry" / "bin").glob(".tmp-*")) == []


def test_what_a_killed_build_left_is_not_taken_for_a_result(
    build: Callable[[], subprocess.Popen[str]], tmp_path: Path
) -> None:
    out, _ = build().communicate()
    place = Path(out.split("\t")[1].strip())
    half = place.with_name(f".tmp-{place.name}")
    place.rename(half)
    (half / "pause").write_bytes(b"half")
    out, err = build().communicate()
    assert "build pause: done" in err
    assert (place / "pause").read_bytes() != b"half"
    assert not half.exists()


def test_a_finished_build_is_not_repeated(build: Callable[[], subprocess.Popen[str]]) -> None:
    build().communicate()
    _, err = build().communicate()
    assert err == ""
