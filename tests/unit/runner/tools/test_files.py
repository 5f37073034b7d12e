"""read_file, write_file and ls, in a fake sandbox and in a real directory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from skerry_runner.sandbox.types import EntryKind, FileInfo
from skerry_runner.tools.errors import ToolFailure
from skerry_runner.tools.ls import render_listing
from skerry_runner.tools.write_file import encoded
from skerry_testing.fakesandbox import FakeSandbox

CallTool = Callable[..., Awaitable[tuple[str, str]]]
FILE = "/mnt/user-data/workspace/a/b.txt"


async def test_what_was_written_is_read(call_tool: CallTool) -> None:
    assert await call_tool("write_file", path=FILE, content="één\n") == ("success", f"OK: {FILE} has 6 bytes")
    assert await call_tool("write_file", path="a/b.txt", content="two\nthree", append=True) == (
        "success",
        f"OK: {FILE} has 15 bytes",
    )
    assert await call_tool("read_file", path=FILE) == ("success", "één\ntwo\nthree")
    assert await call_tool("ls") == ("success", "a/\na/b.txt (15 bytes)")


@pytest.mark.parametrize(
    ("lines", "status", "text"),
    [
        ({"start_line": 2}, "success", "two\nthree"),
        ({"end_line": 2}, "success", "one\ntwo"),
        ({"start_line": 2, "end_line": 2}, "success", "two"),
        ({"start_line": 3, "end_line": 99}, "success", "three"),
        ({"start_line": 0}, "error", "Error: start_line must be at least 1"),
        ({"start_line": 3, "end_line": 2}, "error", "Error: end_line 2 is before start_line 3: there are no such lines"),
        ({"start_line": 4}, "error", f"Error: start_line 4 is past the end of {FILE}: it has 3 lines"),
    ],
)  # fmt: skip
async def test_a_part_of_a_file(call_tool: CallTool, lines: dict[str, int], status: str, text: str) -> None:
    await call_tool("write_file", path=FILE, content="one\ntwo\nthree\n")
    assert await call_tool("read_file", path=FILE, **lines) == (status, text)


async def test_an_empty_file(call_tool: CallTool) -> None:
    await call_tool("write_file", path=FILE, content="")
    assert await call_tool("read_file", path=FILE) == ("success", "(empty)")


@pytest.mark.parametrize("path", ["/etc/passwd", "../../../etc/passwd", "/mnt/user-data-2/x", "/", "a\0b"])
@pytest.mark.parametrize("tool", ["read_file", "write_file", "ls"])
async def test_paths_outside_are_refused(call_tool: CallTool, tool: str, path: str) -> None:
    more = {"content": "x"} if tool == "write_file" else {}
    status, text = await call_tool(tool, path=path, **more)
    assert status == "error"
    assert text.startswith("Error: ")


async def test_a_link_does_not_lead_outside(call_local: CallTool, tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir(exist_ok=True)
    (tmp_path / "workspace" / "out").symlink_to("/etc")
    for tool, more in (("read_file", {}), ("write_file", {"content": "x"})):
        status, text = await call_local(tool, path="out/hostname", **more)
        assert (status, text.startswith("Error: ")) == ("error", True)
        assert str(tmp_path) not in text


@pytest.mark.parametrize("tool", ["read_file", "ls"])
async def test_what_is_not_there(call_tool: CallTool, tool: str) -> None:
    status, text = await call_tool(tool, path="/mnt/user-data/workspace/nothing")
    assert (status, text.startswith("Error: ")) == ("error", True)
    assert "/mnt/user-data/workspace/nothing" in text


async def test_a_directory_is_no_file(call_tool: CallTool) -> None:
    await call_tool("write_file", path=FILE, content="x")
    status, _ = await call_tool("read_file", path="/mnt/user-data/workspace/a")
    assert status == "error"


async def test_bytes_that_are_no_text(fake: FakeSandbox, call_fake: CallTool) -> None:
    fake.files[FILE] = b"\x7fELF\x00\x01"
    status, text = await call_fake("read_file", path=FILE)
    assert (status, text.startswith("(binary file of 6 bytes")) == ("success", True)
    fake.files[FILE] = b"caf\xe9\nok\n"
    assert await call_fake("read_file", path=FILE) == ("success", "caf\\xe9\nok")


async def test_a_long_file_is_cut_and_lines_deep_inside_are_found(
    fake: FakeSandbox, call_fake: CallTool
) -> None:
    fake.files[FILE] = b"".join(b"line %d\n" % number for number in range(1, 400_001))
    status, text = await call_fake("read_file", path=FILE)
    assert (status, len(text), text.startswith("line 1\nline 2\n")) == ("success", 50_000, True)
    assert "use start_line and end_line" in text
    assert await call_fake("read_file", path=FILE, start_line=399_999) == (
        "success",
        "line 399999\nline 400000",
    )


def test_too_much_for_one_write_is_refused_but_may_be_appended() -> None:
    assert encoded("é" * 5, limit=10, append=False) == "é".encode() * 5
    with pytest.raises(ToolFailure, match="12 bytes are too many for one call"):
        encoded("é" * 6, limit=10, append=False)
    assert len(encoded("é" * 6, limit=10, append=True)) == 12
    with pytest.raises(ToolFailure, match="half of a surrogate pair at character 1"):
        encoded("a\ud800", limit=10, append=False)


def info(path: str, kind: EntryKind = EntryKind.FILE, size: int = 1) -> FileInfo:
    return FileInfo(f"/mnt/user-data/{path}", kind, size, 0o644, 0.0)


def test_a_listing_leaves_out_what_nobody_wrote() -> None:
    entries = [
        info("z.txt"), info("a", EntryKind.DIRECTORY), info("a/x"), info("a-b"), info("l", EntryKind.SYMLINK),
        info("p", EntryKind.OTHER), info(".git", EntryKind.DIRECTORY), info(".git/config"), info("a/node_modules/x"),
        info("m.pyc"), info("run.log"),
    ]  # fmt: skip
    text = render_listing("/mnt/user-data", entries, truncated=True)
    assert text.split("\n") == [
        "a/", "a/x (1 bytes)", "a-b (1 bytes)", "l@", "p?", "z.txt (1 bytes)", "… there is more than can be listed",
    ]  # fmt: skip


def test_a_name_can_not_forge_a_line() -> None:
    assert (
        render_listing("/mnt/user-data", [info("a\nb\x1b[0m")], truncated=False) == "a\\nb\\x1b[0m (1 bytes)"
    )
    assert render_listing("/mnt/user-data", [], truncated=False) == "(empty)"
