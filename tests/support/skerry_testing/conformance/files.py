"""Files: reading, writing, listing, and staying inside."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skerry_runner.sandbox import errors
from skerry_runner.sandbox.types import EntryKind
from skerry_testing.conformance.harness import Harness

__all__ = ["FileConformance"]


class FileConformance:
    async def test_write_read_stat(self, harness: Harness) -> None:
        path = f"{harness.workspace}/a/b/c.bin"
        data = os.urandom(300_000)
        assert await harness.sandbox.write_file(path, data) == len(data)
        assert await harness.sandbox.read_file(path) == data
        assert await harness.sandbox.read_file(path, offset=100, limit=50) == data[100:150]
        assert await harness.sandbox.read_file(path, offset=len(data) + 5) == b""
        info = await harness.sandbox.stat(path)
        assert (info.path, info.kind, info.size, info.mode) == (path, EntryKind.FILE, len(data), 0o644)

    async def test_replacing_keeps_the_mode(self, harness: Harness) -> None:
        path = f"{harness.workspace}/run.sh"
        await harness.sandbox.write_file(path, b"#!/bin/sh\n")
        (harness.real / "run.sh").chmod(0o755)
        await harness.sandbox.write_file(path, b"#!/bin/sh\necho hi\n")
        assert (await harness.sandbox.stat(path)).mode == 0o755
        assert [entry.name for entry in harness.real.iterdir()] == ["run.sh"]

    async def test_append(self, harness: Harness) -> None:
        path = f"{harness.workspace}/log"
        assert await harness.sandbox.write_file(path, b"one\n", append=True) == 4
        assert await harness.sandbox.write_file(path, b"two\n", append=True) == 8
        assert await harness.sandbox.read_file(path) == b"one\ntwo\n"

    async def test_empty_file(self, harness: Harness) -> None:
        assert await harness.sandbox.write_file(f"{harness.workspace}/e", b"") == 0
        assert await harness.sandbox.read_file(f"{harness.workspace}/e") == b""

    async def test_names_with_everything_in_them(self, harness: Harness) -> None:
        name = "ä b?c&d=e#f%20'\"+.txt"
        await harness.sandbox.write_file(f"{harness.workspace}/{name}", b"x")
        assert (harness.real / name).read_bytes() == b"x"
        listing = await harness.sandbox.list_dir(harness.workspace)
        assert [entry.path for entry in listing.entries] == [f"{harness.workspace}/{name}"]

    async def test_list(self, harness: Harness) -> None:
        for name in ("b/y", "a", "b/x/deep"):
            await harness.sandbox.write_file(f"{harness.workspace}/{name}", b"1")
        (harness.real / "link").symlink_to("a")
        flat = await harness.sandbox.list_dir(harness.workspace)
        assert [(e.path.removeprefix(harness.workspace), e.kind) for e in flat.entries] == [
            ("/a", EntryKind.FILE), ("/b", EntryKind.DIRECTORY), ("/link", EntryKind.SYMLINK),
        ]  # fmt: skip
        deep = await harness.sandbox.list_dir(harness.workspace, depth=2)
        assert [e.path.removeprefix(harness.workspace) for e in deep.entries] == [
            "/a",
            "/b",
            "/link",
            "/b/x",
            "/b/y",
        ]
        assert not deep.truncated

    async def test_delete(self, harness: Harness) -> None:
        await harness.sandbox.write_file(f"{harness.workspace}/d/f", b"")
        with pytest.raises(errors.DirectoryNotEmpty):
            await harness.sandbox.delete(f"{harness.workspace}/d")
        await harness.sandbox.delete(f"{harness.workspace}/d/f")
        await harness.sandbox.delete(f"{harness.workspace}/d")
        await harness.sandbox.write_file(f"{harness.workspace}/d/f", b"")
        await harness.sandbox.delete(f"{harness.workspace}/d", recursive=True)
        assert list(harness.real.iterdir()) == []

    async def test_missing(self, harness: Harness) -> None:
        path = f"{harness.workspace}/none"
        calls = (
            harness.sandbox.read_file,
            harness.sandbox.stat,
            harness.sandbox.list_dir,
            harness.sandbox.delete,
        )
        for call in calls:
            with pytest.raises(errors.PathNotFound) as caught:
                await call(path)
            assert caught.value.path == path

    async def test_wrong_kinds(self, harness: Harness) -> None:
        await harness.sandbox.write_file(f"{harness.workspace}/d/f", b"")
        os.mkfifo(harness.real / "pipe")
        with pytest.raises(errors.IsADirectory):
            await harness.sandbox.read_file(f"{harness.workspace}/d")
        with pytest.raises(errors.IsADirectory):
            await harness.sandbox.write_file(f"{harness.workspace}/d", b"")
        with pytest.raises(errors.NotADirectory):
            await harness.sandbox.list_dir(f"{harness.workspace}/d/f")
        with pytest.raises(errors.NotADirectory):
            await harness.sandbox.write_file(f"{harness.workspace}/d/f/g", b"")
        for call in (harness.sandbox.read_file(f"{harness.workspace}/pipe"),
                     harness.sandbox.write_file(f"{harness.workspace}/pipe", b"x")):  # fmt: skip
            with pytest.raises(errors.NotARegularFile):
                await call

    async def test_relative_paths_are_refused(self, harness: Harness) -> None:
        with pytest.raises(errors.InvalidCall) as caught:
            await harness.sandbox.read_file("workspace/a")
        assert caught.value.field == "path"

    async def test_links_inside_work(self, harness: Harness) -> None:
        await harness.sandbox.write_file(f"{harness.workspace}/real/f", b"x")
        (harness.real / "link").symlink_to("real")
        assert await harness.sandbox.read_file(f"{harness.workspace}/link/f") == b"x"
        await harness.sandbox.write_file(f"{harness.workspace}/link/f", b"y")
        assert (harness.real / "real" / "f").read_bytes() == b"y"

    async def test_a_deleted_link_leaves_its_target(self, harness: Harness) -> None:
        await harness.sandbox.write_file(f"{harness.workspace}/f", b"x")
        (harness.real / "link").symlink_to("f")
        await harness.sandbox.delete(f"{harness.workspace}/link")
        assert [entry.name for entry in harness.real.iterdir()] == ["f"]

    @pytest.mark.parametrize("link", ["dir-link", "file-link", "relative-link"])
    async def test_links_outside_are_refused(self, harness: Harness, tmp_path: Path, link: str) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "secret").write_bytes(b"secret")
        (harness.real / "dir-link").symlink_to(outside)
        (harness.real / "file-link").symlink_to(outside / "secret")
        (harness.real / "relative-link").symlink_to("../" * 20 + str(outside)[1:])
        path = f"{harness.workspace}/{link}" + ("" if link == "file-link" else "/secret")
        with pytest.raises(errors.PathForbidden):
            await harness.sandbox.read_file(path)
        with pytest.raises(errors.PathForbidden):
            await harness.sandbox.write_file(path, b"spoilt")
        with pytest.raises(errors.PathForbidden):
            await harness.sandbox.stat(path)
        assert (outside / "secret").read_bytes() == b"secret"
        assert [entry.name for entry in outside.iterdir()] == ["secret"]

    @pytest.mark.parametrize(
        "path", ["/etc/passwd", "/proc/self/environ", "/", "{w}/../../../../etc/passwd", "{r}2/x"]
    )
    async def test_other_paths_are_refused(self, harness: Harness, path: str) -> None:
        root = harness.workspace.rpartition("/")[0]
        with pytest.raises(errors.PathForbidden):
            await harness.sandbox.read_file(path.format(w=harness.workspace, r=root))

    async def test_the_directories_themselves_stay(self, harness: Harness) -> None:
        with pytest.raises(errors.PathPermission):
            await harness.sandbox.delete(harness.workspace.rpartition("/")[0], recursive=True)
        assert harness.real.is_dir()
