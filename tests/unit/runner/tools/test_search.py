"""glob and grep: what the model reads, in a fake sandbox and in a real directory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from skerry_api.filesearch.models import GrepResult, SearchResult
from skerry_runner.tools.errors import ToolFailure
from skerry_runner.tools.grep import _notes
from skerry_runner.tools.search import checked_glob, result_limit, with_notes

CallTool = Callable[..., Awaitable[tuple[str, str]]]
W = "/mnt/user-data/workspace"


async def fill(call_tool: CallTool) -> None:
    for name in ("a.py", "src/b.py", "src/c.txt", "dist/d.py"):
        await call_tool("write_file", path=name, content=f"import os\n# {name}\n")


async def test_files_are_found_by_name(call_tool: CallTool) -> None:
    await fill(call_tool)
    left_out = "\n(1 names such as caches, packages, build results and logs left out)"
    assert await call_tool("glob", pattern="*.py") == ("success", f"{W}/a.py\n{W}/src/b.py{left_out}")
    assert await call_tool("glob", pattern="dist/*") == ("success", f"{W}/dist/d.py")
    assert await call_tool("glob", pattern=f"{W}/src/*") == (
        "success",
        f"{W}/src/b.py\n{W}/src/c.txt" + left_out,
    )
    assert await call_tool("glob", pattern="s*", include_dirs=True) == ("success", f"{W}/src/{left_out}")
    assert await call_tool("glob", pattern="*.py", path="src", max_results=1) == ("success", f"{W}/src/b.py")
    status, text = await call_tool("glob", pattern="*", max_results=2)
    assert (status, text.splitlines()[:2], "there are more" in text) == (
        "success",
        [f"{W}/a.py", f"{W}/src/b.py"],
        True,
    )
    assert await call_tool("glob", pattern="*.rs", path="src") == ("success", "(nothing found)")


async def test_lines_are_found(call_tool: CallTool) -> None:
    await fill(call_tool)
    assert await call_tool("grep", pattern="IMPORT +os", path="src") == (
        "success",
        f"{W}/src/b.py:1: import os\n{W}/src/c.txt:1: import os",
    )
    assert await call_tool("grep", pattern="IMPORT", path="src", case_sensitive=True) == (
        "success",
        "(nothing found)",
    )
    assert await call_tool("grep", pattern="# .*py", path="src", glob="*.txt") == (
        "success",
        "(nothing found)",
    )
    assert await call_tool("grep", pattern="src/b.py", literal=True, path="src/b.py") == (
        "success",
        f"{W}/src/b.py:2: # src/b.py",
    )
    status, text = await call_tool("grep", pattern="import", max_results=1)
    assert (status, text.splitlines()[0], "there are more" in text) == (
        "success",
        f"{W}/a.py:1: import os",
        True,
    )


async def test_a_line_can_not_forge_another(call_tool: CallTool) -> None:
    await call_tool("write_file", path="a", content="x\x1b[2K\r/etc/passwd:1: root\u2028\ty\n")
    status, text = await call_tool("grep", pattern="x")
    assert (status, text) == ("success", f"{W}/a:1: x\\x1b[2K\\r/etc/passwd:1: root\\u2028\ty")


@pytest.mark.parametrize(
    ("tool", "args", "message"),
    [
        ("glob", {"pattern": ""}, "at least 1"),
        ("glob", {"pattern": "../*"}, "leads out"),
        ("glob", {"pattern": "a\0"}, "NUL"),
        ("glob", {"pattern": "/mnt/skills/*"}, "not below"),
        ("glob", {"pattern": "*", "path": "/etc"}, "outside"),
        ("glob", {"pattern": "*", "path": "none"}, f"{W}/none"),
        ("glob", {"pattern": "*", "max_results": 0}, "greater than or equal to 1"),
        ("glob", {"pattern": "x" * 1001}, "at most 1000"),
        ("glob", {"pattern": 5}, "valid string"),
        ("grep", {"pattern": "("}, "no regular expression"),
        ("grep", {"pattern": "a\0"}, "NUL"),
        ("grep", {"pattern": "a", "path": "/etc"}, "outside"),
        ("grep", {"pattern": "a", "path": "none"}, f"{W}/none"),
        ("grep", {"pattern": "a", "glob": "../x"}, "leads out"),
        ("grep", {}, "required"),
    ],
)
async def test_errors_are_texts(
    call_tool: CallTool, tool: str, args: dict[str, object], message: str
) -> None:
    status, text = await call_tool(tool, **args)
    assert (status, message in text) == ("error", True), text


@pytest.mark.parametrize(
    ("glob", "relative"), [("*.py", "*.py"), (f"{W}/*.py", "./*.py"), (f"{W}/a/*", "a/*"), ("/x", "/x")]
)
def test_a_glob_from_the_root_is_made_relative(glob: str, relative: str) -> None:
    assert checked_glob(glob, W) == relative


def test_a_glob_of_another_place_is_refused() -> None:
    with pytest.raises(ToolFailure, match=f"not below {W}/a"):
        checked_glob(f"{W}/b/*", f"{W}/a")


def test_limits() -> None:
    assert [result_limit(asked, 200, 1000) for asked in (None, 5, 5000)] == [200, 5, 1000]


def test_what_is_not_there_is_said() -> None:
    found = GrepResult(
        truncated=True,
        incomplete=True,
        ignored=3,
        unreadable=1,
        skipped_large=2,
        skipped_binary=4,
        skipped_lines=5,
    )
    assert with_notes([], found, _notes(found), chars=0) == (
        "(nothing found)\n(there are more: narrow the search; time ran out, there may be more: narrow the search; "
        "2 files over 1 MB not searched: name one as path; 4 binary files not searched; "
        "5 lines over 2000 characters not searched; "
        "3 names such as caches, packages, build results and logs left out; 1 could not be read)"
    )
    assert with_notes(["a"], SearchResult(), [], chars=0) == "a"
    assert len(with_notes(["a" * 100] * 10, SearchResult(), [], chars=200)) == 200
