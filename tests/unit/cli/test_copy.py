"""`skerry cp` as a process, through a stand-in for kubectl to a real sandboxd."""

from __future__ import annotations

import stat
from pathlib import Path, PurePosixPath

import pytest

from skerry_cli.copy import Remote, below, parse
from skerry_testing.insidestand import InsideStand

WORKSPACE = PurePosixPath("/mnt/user-data/workspace")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("hello:a/b", Remote("hello", WORKSPACE / "a/b")),
        ("hello:", Remote("hello", WORKSPACE)),
        ("sbx/s:/tmp/x", Remote("sbx/s", PurePosixPath("/tmp/x"))),
        ("here", Path("here")),
        ("./a:b", Path("./a:b")),
        ("/a:b", Path("/a:b")),
        (":a", Path(":a")),
    ],
)
def test_which_side_is_meant(text: str, meant: Remote | Path) -> None:
    assert parse(text) == meant


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("/d/a", "a"), ("/d/a/b", "a/b"), ("/d", None), ("/e/a", None), ("/d/../etc", None), ("/d/a/../../x", None), ("a", None),
    ],
)  # fmt: skip
def test_a_listing_cannot_leave_its_directory(path: str, place: str | None) -> None:
    assert below(PurePosixPath("/d"), path) == (PurePosixPath(place) if place else None)


async def test_a_file_goes_in_and_out_with_its_permissions(inside: InsideStand) -> None:
    data = bytes(range(256)) * 10_000
    (inside.folder / "tool.sh").write_bytes(data)
    (inside.folder / "tool.sh").chmod(0o751)
    assert (await inside.skerry("cp", "tool.sh", "hello:sub/x.sh")).code == 0
    there = inside.sandboxd.workspace / "sub/x.sh"
    assert there.read_bytes() == data
    assert stat.S_IMODE(there.stat().st_mode) == 0o751
    (inside.folder / "to").mkdir()
    done = await inside.skerry("cp", "sbx/sb-1:/mnt/user-data/workspace/sub/x.sh", "to")
    assert (done.code, done.error) == (0, "")
    assert (inside.folder / "to/x.sh").read_bytes() == data
    assert [path.name for path in (inside.folder / "to").iterdir()] == ["x.sh"]
    assert stat.S_IMODE((inside.folder / "to/x.sh").stat().st_mode) == 0o751
    # Into a directory that is there, under its own name.
    assert (await inside.skerry("cp", "tool.sh", "hello:sub")).code == 0
    assert (inside.sandboxd.workspace / "sub/tool.sh").read_bytes() == data


async def test_a_directory_goes_in_and_out_however_deep(inside: InsideStand) -> None:
    tree = inside.folder / "tree"
    deep = tree.joinpath(*"abcdefghijklmn")
    deep.mkdir(parents=True)
    (deep / "ü ?#&.txt").write_text("deep")
    (tree / "top").write_text("top")
    (tree / "link").symlink_to("top")
    done = await inside.skerry("cp", "tree", "hello:copy")
    assert (done.code, done.error) == (
        1,
        f"skerry: {Path('tree/link')}: neither a file nor a directory, passed over\n",
    )
    there = inside.sandboxd.workspace / "copy"
    assert there.joinpath(*"abcdefghijklmn", "ü ?#&.txt").read_text() == "deep"
    (there / "evil").symlink_to("/etc/passwd")
    done = await inside.skerry("cp", "hello:copy", "back")
    assert (done.code, done.error) == (
        1, "skerry: /mnt/user-data/workspace/copy/evil: neither a file nor a directory, passed over\n",
    )  # fmt: skip
    back = inside.folder / "back"
    assert sorted(str(path.relative_to(back)) for path in back.rglob("*") if path.is_file()) == [
        "/".join((*"abcdefghijklmn", "ü ?#&.txt")), "top",
    ]  # fmt: skip


async def test_what_cannot_be_copied_is_said_and_nothing_half_stays(inside: InsideStand) -> None:
    (inside.folder / "a").write_text("a")
    for source, target, words in (
        ("a", "b", "one of the two must be in a sandbox, as NAME:PATH, and the other here"),
        ("hello:a", "hello:b", "one of the two must be in a sandbox, as NAME:PATH, and the other here"),
        ("none-here", "hello:a", "none-here: No such file or directory"),
        ("hello:none", "c", "/mnt/user-data/workspace/none: no such file in the sandbox"),
        ("a", "hello:/etc/passwd", "PathForbidden: "),
        ("hello:/etc/passwd", "c", "PathForbidden: "),
    ):
        done = await inside.skerry("cp", source, target)
        assert done.code == 2
        assert done.error.startswith(f"skerry: {words}")
    assert not (inside.folder / "c").exists()
    assert not [path for path in inside.folder.iterdir() if path.name.startswith(".")]
