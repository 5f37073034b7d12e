"""Paths: what resolves where, and that a link slipped in afterwards is not followed."""

from __future__ import annotations

from pathlib import Path

import pytest

from skerry_api.sandboxd_api import Reason
from skerry_sandboxd.errors import ApiError
from skerry_sandboxd.paths import Roots, os_failure
from skerry_sandboxd.settings import Root


@pytest.fixture
def roots(tmp_path: Path) -> Roots:
    for name in ("data/skills", "ro", "outside"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "outside" / "secret").write_text("secret")
    return Roots(
        (
            Root(str(tmp_path / "data")),
            Root(str(tmp_path / "ro"), writable=False),
            Root(str(tmp_path / "data/skills"), writable=False),
        )
    )


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def refused(roots: Roots, path: object, *, write: bool = False) -> Reason:
    with pytest.raises(ApiError) as caught:
        roots.locate(str(path), write=write)
    return caught.value.body.reason


def test_locate(roots: Roots, tmp_path: Path) -> None:
    place = roots.locate(f"{tmp_path}/data/a/../b//c")
    assert (place.path, place.names) == (f"{tmp_path}/data/b/c", ("b", "c"))
    assert roots.locate(f"{tmp_path}/data").names == ()


def test_the_inner_root_decides(roots: Roots, tmp_path: Path) -> None:
    roots.locate(f"{tmp_path}/data/skills2", write=True)
    roots.locate(f"{tmp_path}/data/skills/x")
    assert refused(roots, f"{tmp_path}/data/skills/x", write=True) is Reason.READ_ONLY
    (tmp_path / "data" / "link").symlink_to(tmp_path / "data" / "skills")
    assert refused(roots, f"{tmp_path}/data/link/x", write=True) is Reason.READ_ONLY


def test_outside(roots: Roots, tmp_path: Path) -> None:
    (tmp_path / "data" / "out").symlink_to(tmp_path / "outside")
    (tmp_path / "data" / "loop").symlink_to("loop")
    for path in ("outside/secret", "data2", "data/../outside/secret", "data/out/secret", "data/out"):
        assert refused(roots, tmp_path / path) is Reason.PATH_FORBIDDEN
    for path in ("relative", "", "/a\0b", "/" + "x" * 5000):
        assert refused(roots, path) is Reason.INVALID_REQUEST


def test_a_link_slipped_in_is_not_followed(roots: Roots, tmp_path: Path) -> None:
    (tmp_path / "data" / "dir").mkdir()
    place = roots.locate(f"{tmp_path}/data/dir/secret")
    (tmp_path / "data" / "dir").rmdir()
    (tmp_path / "data" / "dir").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError) as caught, roots.parent(place):
        pytest.fail("the directory was opened")
    assert os_failure(caught.value, "x").body.reason is Reason.PATH_FORBIDDEN
    with pytest.raises(OSError), roots.parent(place, create=True):
        pytest.fail("the directory was opened")


def test_nothing_stays_open(roots: Roots, tmp_path: Path) -> None:
    before = open_files()
    (tmp_path / "data" / "file").touch()
    for path in ("a/b/c/d", "file/x/y"):
        with pytest.raises(OSError), roots.parent(roots.locate(f"{tmp_path}/data/{path}")):
            pytest.fail("it was opened")
    with roots.parent(roots.locate(f"{tmp_path}/data/n/e/w"), create=True) as (_, name):
        assert name == "w"
    assert open_files() == before
