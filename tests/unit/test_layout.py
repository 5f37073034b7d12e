"""The layout guard: component folders are plain folders, so the stdlib's `operator` stays importable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PLAIN = ("operator", "api", "runner", "sandbox", "cli")


@pytest.mark.parametrize("folder", PLAIN)
def test_component_folder_is_no_package(folder: str) -> None:
    assert (ROOT / folder).is_dir()
    assert sorted(path.name for path in (ROOT / folder).glob("*.py")) == []


def test_no_test_folder_shadows_the_stdlib() -> None:
    assert [path for path in (ROOT / "tests").rglob("operator") if path.is_dir()] == []


def test_stdlib_operator_is_importable_from_the_root() -> None:
    code = "import operator, collections; print(operator.add(1, 2))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "3"


def test_lock_files_name_no_host() -> None:
    for lock in sorted((ROOT / "requirements").glob("*.txt")):
        named = [
            line
            for line in lock.read_text().splitlines()
            if "://" in line or line.startswith(("-i", "--index", "--find"))
        ]
        assert named == [], lock.name
