"""Content keys: what makes another image, and what does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from images.keys import digest, image_key, source_files, wheels_key
from images.specs import IMAGES, ROOT


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what images are made of."""
    for folder in ("api", "operator", "runner", "sandbox", "cli", "requirements", "hack/images"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def _keys(root: Path, base: str = "b") -> dict[str, str]:
    return {name: image_key(spec, base, root=root) for name, spec in IMAGES.items()}


@pytest.mark.parametrize(
    ("changed", "others"),
    [
        ("api/skerry_api/names.py", {"operator", "runner", "sandbox"}),
        ("operator/skerry_operator/__init__.py", {"operator"}),
        ("runner/skerry_runner/__init__.py", {"runner"}),
        ("sandbox/skerry_sandboxd/__init__.py", {"sandbox"}),
        ("runner/Dockerfile", {"runner"}),
        ("requirements/sandboxd.txt", {"sandbox"}),
        ("hack/images/pip.txt", {"operator", "runner", "sandbox"}),
        ("cli/skerry_cli/__init__.py", set()),
        ("requirements/dev.txt", set()),
    ],
)
def test_only_what_is_inside_counts(checkout: Path, changed: str, others: set[str]) -> None:
    before = _keys(checkout)
    path = checkout / changed
    path.write_bytes(path.read_bytes() + b"\n# changed\n")
    after = _keys(checkout)
    assert {name for name in IMAGES if before[name] != after[name]} == others


def test_times_and_byte_code_do_not_count(checkout: Path) -> None:
    before = _keys(checkout)
    cache = checkout / "api/skerry_api/__pycache__"
    cache.mkdir()
    (cache / "names.cpython-311.pyc").write_bytes(b"x")
    (checkout / "api/skerry_api/names.py").touch()
    assert _keys(checkout) == before


def test_new_renamed_and_removed_files_count(checkout: Path) -> None:
    folder = checkout / "runner/skerry_runner"
    keys = [_keys(checkout)["runner"]]
    (folder / "new_one.py").write_text("")
    keys.append(_keys(checkout)["runner"])
    (folder / "new_one.py").rename(folder / "new_two.py")
    keys.append(_keys(checkout)["runner"])
    assert len(set(keys)) == 3
    (folder / "new_two.py").unlink()
    assert _keys(checkout)["runner"] == keys[0]


def test_the_base_counts(checkout: Path) -> None:
    assert _keys(checkout, "b1")["runner"] != _keys(checkout, "b2")["runner"]


def test_parts_do_not_run_into_each_other() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("a", b"b") == digest("a", "b")


def test_wheels_depend_on_lock_python_and_machine() -> None:
    one = ("lock", b"l", b"p", "3.11", "x86_64")
    keys = {
        wheels_key(b"l", b"p", "3.11", "x86_64"),
        wheels_key(b"m", b"p", "3.11", "x86_64"),
        wheels_key(b"l", b"q", "3.11", "x86_64"),
        wheels_key(b"l", b"p", "3.12", "x86_64"),
        wheels_key(b"l", b"p", "3.11", "aarch64"),
    }
    assert len(keys) == len(one)


def test_sources_are_files_in_order(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.py").write_text("")
    (tmp_path / "a" / "x.pyc").write_text("")
    assert [path.relative_to(tmp_path).as_posix() for path in source_files(tmp_path)] == ["a/x.py", "b.py"]
