"""Virtual and real paths of the Local provider, both ways."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from skerry_runner.sandbox import errors
from skerry_runner.sandbox.mounts import Mount, Mounts


@pytest.fixture
def mounts(tmp_path: Path) -> Mounts:
    for name in ("data", "skills", "inner"):
        (tmp_path / name).mkdir()
    return Mounts(
        [
            Mount("/mnt/user-data", tmp_path / "data"),
            Mount("/mnt/skills", tmp_path / "skills", writable=False),
            Mount("/mnt/user-data/inner", tmp_path / "inner"),
        ]
    )


@pytest.mark.parametrize(
    ("virtual", "real"),
    [
        ("/mnt/user-data", "data"),
        ("/mnt/user-data/", "data"),
        ("/mnt/user-data/a/b", "data/a/b"),
        ("//mnt//user-data/./a/../b", "data/b"),
        ("/mnt/user-data/inner", "inner"),
        ("/mnt/user-data/inner/x", "inner/x"),
        ("/mnt/user-data/inner2", "data/inner2"),
        ("/mnt/skills/s", "skills/s"),
    ],
)
def test_resolve(mounts: Mounts, tmp_path: Path, virtual: str, real: str) -> None:
    assert mounts.resolve(virtual) == tmp_path / real


@pytest.mark.parametrize("path", ["/mnt", "/mnt/skills2/x", "/mnt/user-data/../x", "/", "/etc/passwd"])
def test_outside(mounts: Mounts, path: str) -> None:
    with pytest.raises(errors.PathForbidden):
        mounts.resolve(path)


@pytest.mark.parametrize("path", ["", "a", "mnt/user-data", "/mnt/user-data/\0"])
def test_no_path(mounts: Mounts, path: str) -> None:
    with pytest.raises(errors.InvalidCall):
        mounts.resolve(path)


def test_read_only(mounts: Mounts, tmp_path: Path) -> None:
    mounts.resolve("/mnt/skills/a")
    with pytest.raises(errors.ReadOnlyPath):
        mounts.resolve("/mnt/skills/a", write=True)
    # A link from a writable mount into it is as read-only.
    (tmp_path / "data" / "link").symlink_to(tmp_path / "skills")
    assert mounts.resolve("/mnt/user-data/link/a") == tmp_path / "skills" / "a"
    with pytest.raises(errors.ReadOnlyPath):
        mounts.resolve("/mnt/user-data/link/a", write=True)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cat /mnt/user-data/a", "cat {d}/a"),
        ("cd /mnt/user-data && ls", "cd {d} && ls"),
        ("cat '/mnt/user-data/a b'", "cat '{d}/a b'"),
        ("X=/mnt/user-data/a:/mnt/skills", "X={d}/a:{s}"),
        (">/mnt/user-data/a", ">{d}/a"),
        ("ls /mnt/user-data/inner/x", "ls {i}/x"),
        ("ls /mnt/user-data2", "ls /mnt/user-data2"),
        ("ls /mnt/user-data.bak", "ls /mnt/user-data.bak"),
        ("ls /mnt/user-data-old", "ls /mnt/user-data-old"),
        ("ls /home/mnt/user-data", "ls /home/mnt/user-data"),
        ("ls ./mnt/user-data", "ls ./mnt/user-data"),
    ],
)
def test_commands(mounts: Mounts, tmp_path: Path, command: str, expected: str) -> None:
    paths = {"d": tmp_path / "data", "s": tmp_path / "skills", "i": tmp_path / "inner"}
    assert mounts.to_real(command) == expected.format(**paths)


def test_output_cut_anywhere(mounts: Mounts, tmp_path: Path) -> None:
    text = f"at {tmp_path}/data/x and {tmp_path}/inner and {tmp_path}/other {tmp_path}/dat".encode()
    wanted = text.replace(f"{tmp_path}/data".encode(), b"/mnt/user-data").replace(
        f"{tmp_path}/inner".encode(), b"/mnt/user-data/inner"
    )
    numbers = random.Random(5)
    for _ in range(200):
        translator, said, rest = mounts.translator(), b"", text
        while rest:
            size = numbers.randrange(1, 20)
            said += translator.feed(rest[:size])
            rest = rest[size:]
        assert said + translator.flush() == wanted
