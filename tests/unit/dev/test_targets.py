"""Build keys."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skerry_devcluster.layout import SOURCES
from skerry_devcluster.targets import TARGETS, build_key, required_go, source_hashes

SOURCE = {"go.mod": "1", "main.go": "2"}
NODE = TARGETS["node"]


def test_the_same_inputs_give_the_same_key() -> None:
    key = build_key(NODE, SOURCE, "go1.26.6", "x86_64")
    assert key == build_key(replace(NODE), dict(reversed(SOURCE.items())), "go1.26.6", "x86_64")
    assert len(key) == 16


def test_every_input_changes_the_key() -> None:
    keys = [
        build_key(NODE, SOURCE, "go1.26.6", "x86_64"),
        build_key(NODE, {**SOURCE, "go.mod": "3"}, "go1.26.6", "x86_64"),
        build_key(NODE, {**SOURCE, "new.go": "2"}, "go1.26.6", "x86_64"),
        build_key(NODE, SOURCE, "go1.26.7", "x86_64"),
        build_key(NODE, SOURCE, "go1.26.6", "aarch64"),
        build_key(replace(NODE, ldflags=""), SOURCE, "go1.26.6", "x86_64"),
        build_key(replace(NODE, tags="x"), SOURCE, "go1.26.6", "x86_64"),
    ]
    assert len(set(keys)) == len(keys)


def test_sources_are_hashed_wherever_they_lie_and_nothing_else_is(tmp_path: Path) -> None:
    (tmp_path / "cmd" / "x").mkdir(parents=True)
    for name in ("go.mod", "go.sum", "cmd/x/main.go", "cmd/x/main_test.go", "README.md"):
        (tmp_path / name).write_text(name)
    first = source_hashes(tmp_path)
    assert sorted(first) == ["cmd/x/main.go", "go.mod", "go.sum"]
    (tmp_path / "cmd/x/main.go").write_text("changed")
    assert source_hashes(tmp_path)["cmd/x/main.go"] != first["cmd/x/main.go"]


def test_every_target_has_its_sources() -> None:
    for target in TARGETS.values():
        hashes = source_hashes(SOURCES / target.module)
        wanted = target.c_source or "go.sum"
        assert wanted in hashes, target.name


@pytest.mark.parametrize(
    ("modules", "version"),
    [
        (["module x\n\ngo 1.26.0\n"], (1, 26, 0)),
        (["go 1.26.0\n", "go 1.26.6\n", "go 1.9\n"], (1, 26, 6)),
        (["go 1.26.1\nrequire (\n\tgo 9.9.9 // not a directive\n)\n"], (1, 26, 1)),
    ],
)
def test_the_newest_version_that_is_asked_for(modules: list[str], version: tuple[int, int, int]) -> None:
    assert required_go(modules) == version
