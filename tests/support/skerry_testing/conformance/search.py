"""Searching by name and by content, staying inside, and not being held up."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from skerry_api.filesearch.models import FindRequest, GrepRequest
from skerry_api.sandboxd_api import FileKind
from skerry_runner.sandbox import errors
from skerry_testing.conformance.harness import Harness

__all__ = ["SearchConformance"]


def fill(harness: Harness, *names: str, text: str = "x\n") -> None:
    for name in names:
        path = harness.real / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


async def found(harness: Harness, glob: str, **fields: Any) -> list[str]:
    request = FindRequest(
        path=fields.pop("path", harness.workspace), glob=glob, limit=fields.pop("limit", 100), **fields
    )
    result = await harness.sandbox.find(request)
    assert not result.incomplete
    return [entry.path.removeprefix(harness.workspace + "/") for entry in result.paths]


async def lines(harness: Harness, pattern: str, **fields: Any) -> list[str]:
    request = GrepRequest(
        path=fields.pop("path", harness.workspace), pattern=pattern, limit=fields.pop("limit", 100), **fields
    )
    result = await harness.sandbox.grep(request)
    assert not result.incomplete
    return [
        f"{match.path.removeprefix(harness.workspace + '/')}:{match.line}:{match.text}"
        for match in result.matches
    ]


class SearchConformance:
    async def test_find(self, harness: Harness) -> None:
        fill(harness, "b.py", "a/z.py", "a/b/c.py", "a/b/c.txt", "a-b/x.ts")
        (harness.real / "link.py").symlink_to("b.py")
        (harness.real / "up").symlink_to(harness.real)
        assert await found(harness, "*.py") == ["a/b/c.py", "a/z.py", "b.py", "link.py"]
        assert await found(harness, "./*.py") == ["b.py", "link.py"]
        assert await found(harness, "a/**/*.{py,txt}") == ["a/b/c.py", "a/b/c.txt", "a/z.py"]
        assert await found(harness, "**", directories=True) == [
            "a", "a/b", "a/b/c.py", "a/b/c.txt", "a/z.py", "a-b", "a-b/x.ts", "b.py", "link.py", "up",
        ]  # fmt: skip
        assert await found(harness, "c.*", path=f"{harness.workspace}/a") == ["a/b/c.py", "a/b/c.txt"]
        assert await found(harness, "nothing") == []
        result = await harness.sandbox.find(FindRequest(path=harness.workspace, glob="*", limit=3))
        assert (len(result.paths), result.truncated) == (3, True)
        kinds = await harness.sandbox.find(
            FindRequest(path=harness.workspace, glob="{a,up,b.py}", limit=9, directories=True)
        )
        assert [entry.kind for entry in kinds.paths] == [FileKind.DIRECTORY, FileKind.FILE, FileKind.SYMLINK]

    async def test_what_is_ignored_is_counted_unless_the_glob_names_it(self, harness: Harness) -> None:
        fill(harness, "a.py", "dist/b.py", "x/dist/c.py", "d.log")
        ignore = ("dist", "*.log")
        result = await harness.sandbox.find(
            FindRequest(path=harness.workspace, glob="*", ignore=ignore, limit=9)
        )
        assert ([entry.path.rpartition("/")[2] for entry in result.paths], result.ignored) == (["a.py"], 3)
        assert await found(harness, "**/dist/*", ignore=ignore) == ["dist/b.py", "x/dist/c.py"]
        assert await found(harness, "*.log", ignore=ignore) == ["d.log"]
        assert await found(harness, "*", ignore=ignore, path=f"{harness.workspace}/dist") == ["dist/b.py"]

    async def test_odd_names(self, harness: Harness) -> None:
        fill(harness, "ä b.txt", "new\nline.txt", "[x].txt", "-rf.txt")
        (harness.real / os.fsdecode(b"caf\xe9.txt")).write_text("odd")
        assert await found(harness, "*.txt") == [
            "-rf.txt",
            "[x].txt",
            "caf\ufffd.txt",
            "new\nline.txt",
            "ä b.txt",
        ]
        assert await found(harness, "[[]x].txt") == ["[x].txt"]

    async def test_grep(self, harness: Harness) -> None:
        fill(harness, "a.txt", text="One\ntwo one\r\n\nlast ONE")
        fill(harness, "b/c.py", text="one = 1\n")
        assert await lines(harness, "one") == [
            "a.txt:1:One",
            "a.txt:2:two one",
            "a.txt:4:last ONE",
            "b/c.py:1:one = 1",
        ]
        assert await lines(harness, "one$", case_sensitive=True) == ["a.txt:2:two one"]
        assert await lines(harness, "one", glob="*.py") == ["b/c.py:1:one = 1"]
        assert await lines(harness, "= 1", literal=True) == ["b/c.py:1:one = 1"]
        assert await lines(harness, "o.e", literal=True) == []
        assert await lines(harness, "^$") == ["a.txt:3:"]
        assert await lines(harness, "one", path=f"{harness.workspace}/b/c.py") == ["b/c.py:1:one = 1"]
        result = await harness.sandbox.grep(GrepRequest(path=harness.workspace, pattern="one", limit=2))
        assert (len(result.matches), result.truncated) == (2, True)

    async def test_what_is_not_looked_into_is_counted(self, harness: Harness) -> None:
        fill(harness, "big.txt", text="needle\n" + "x\n" * 600_000)
        fill(harness, "long.txt", text="needle" + "x" * 3000 + "\nneedle\n")
        fill(harness, "around.txt", text="x" * 1000 + "needle" + "y" * 900)
        (harness.real / "bin").write_bytes(b"needle\0")
        (harness.real / "latin").write_bytes(b"needle caf\xe9")
        os.mkfifo(harness.real / "pipe")
        result = await harness.sandbox.grep(GrepRequest(path=harness.workspace, pattern="needle", limit=9))
        texts = {match.path.rpartition("/")[2]: (match.line, match.text) for match in result.matches}
        assert texts.keys() == {"around.txt", "latin", "long.txt"}
        assert texts["latin"] == (1, "needle caf\\xe9")
        assert texts["long.txt"] == (2, "needle")
        assert len(texts["around.txt"][1]) == 202
        assert "needle" in texts["around.txt"][1]
        assert (result.files, result.skipped_large, result.skipped_binary, result.skipped_lines) == (
            3,
            1,
            1,
            1,
        )
        assert await lines(harness, "needle", path=f"{harness.workspace}/big.txt") == ["big.txt:1:needle"]

    async def test_searches_stay_inside(self, harness: Harness, tmp_path: Path) -> None:
        outside = tmp_path / "outside"
        outside.mkdir()
        (outside / "secret.txt").write_text("secret")
        (harness.real / "dir").symlink_to(outside)
        (harness.real / "file.txt").symlink_to(outside / "secret.txt")
        assert await found(harness, "*.txt") == ["file.txt"]
        assert await lines(harness, "secret") == []
        for path in (
            f"{harness.workspace}/dir",
            f"{harness.workspace}/file.txt",
            "/etc",
            f"{harness.workspace}/../../../..",
        ):
            with pytest.raises(errors.PathForbidden):
                await found(harness, "*", path=path)
            with pytest.raises(errors.PathForbidden):
                await lines(harness, "x", path=path)

    async def test_searches_that_can_not_work(self, harness: Harness) -> None:
        fill(harness, "a")
        with pytest.raises(errors.PathNotFound):
            await found(harness, "*", path=f"{harness.workspace}/none")
        with pytest.raises(errors.NotADirectory):
            await found(harness, "*", path=f"{harness.workspace}/a")
        for field, call in (("pattern", lines(harness, "(")), ("pattern", lines(harness, "a**")),
                            ("glob", found(harness, "../*")), ("glob", lines(harness, "x", glob="[b-a]"))):  # fmt: skip
            with pytest.raises(errors.InvalidCall) as caught:
                await call
            assert caught.value.field == field

    async def test_a_hundred_thousand_files(self, harness: Harness) -> None:
        for folder in range(100):
            (harness.real / f"d{folder:02}").mkdir()
            for number in range(1000):
                os.close(os.open(harness.real / f"d{folder:02}" / f"f{number:03}", os.O_CREAT | os.O_WRONLY))
        (harness.real / "d99" / "f999.needle").write_text("needle\n")
        assert await found(harness, "*.needle") == ["d99/f999.needle"]
        assert await lines(harness, "needle", glob="*.needle") == ["d99/f999.needle:1:needle"]
        result = await harness.sandbox.find(FindRequest(path=harness.workspace, glob="*", limit=1000))
        assert (len(result.paths), result.truncated, result.paths[-1].path[-8:]) == (1000, True, "d00/f999")

    async def test_a_hopeless_expression_holds_nobody_up(self, harness: Harness) -> None:
        fill(harness, "a", text="a" * 60 + "\n")
        slow = asyncio.create_task(lines(harness, "(a+)+$b"))
        await harness.sandbox.write_file(f"{harness.workspace}/b", b"x")
        assert await found(harness, "b") == ["b"]
        assert not slow.done()
        slow.cancel()
        with pytest.raises(asyncio.CancelledError):
            await slow
