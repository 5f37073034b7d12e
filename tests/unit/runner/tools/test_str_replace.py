"""str_replace: really the only one, and nothing else of the file is touched."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from typing_extensions import override

from skerry_api.phases import OutcomeClass
from skerry_runner.pipeline import assemble
from skerry_runner.tools.errors import ToolFailure
from skerry_runner.tools.str_replace import replaced, str_replace
from skerry_testing.fakesandbox import FakeSandbox
from skerry_testing.rowrun import play
from skerry_testing.runnerworld import RunnerWorld, document

CallTool = Callable[..., Awaitable[tuple[str, str]]]
FILE = "/mnt/user-data/workspace/a.txt"


@pytest.mark.parametrize(
    ("data", "old", "everywhere", "result"),
    [
        (b"one two", b"two", False, (b"one X", 1)),
        (b"two two", b"two", True, (b"X X", 2)),
        (b"caf\xe9 two\0", b"two", False, (b"caf\xe9 X\0", 1)),
        (b"a\r\nb\r\n", b"a\r\nb", False, (b"X\r\n", 1)),
        (b"aaa", b"aa", True, (b"Xa", 1)),
    ],
)
def test_replacing(data: bytes, old: bytes, everywhere: bool, result: tuple[bytes, int]) -> None:
    assert replaced(data, old, b"X", everywhere=everywhere) == result


@pytest.mark.parametrize(
    ("data", "old", "message"),
    [
        (b"one", b"two", "old_str is not in the file; read"),
        (b"", b"two", "old_str is not in the file; read"),
        (b"a\r\nb", b"a\nb", "lines end in CR LF"),
        (b"x = 1", b"  x = 1\n", "only without the white space around it"),
        (b"x\ny\nx\n", b"x", r"more than once \(lines 1, 3\)"),
        (b"aaa", b"aa", r"more than once \(lines 1, 1\)"),
        (b"x\n" * 99, b"x", r"\(lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 …\)"),
    ],
)
def test_what_can_not_be_replaced(data: bytes, old: bytes, message: str) -> None:
    with pytest.raises(ToolFailure, match=message):
        replaced(data, old, b"X", everywhere=False)


async def test_a_file_is_changed(call_tool: CallTool) -> None:
    await call_tool("write_file", path=FILE, content="one two three\n")
    assert await call_tool("str_replace", path=FILE, old_str="two", new_str="zwei") == (
        "success",
        f"OK: 1 replaced; {FILE} has 15 bytes",
    )
    assert await call_tool("str_replace", path="a.txt", old_str=" three", new_str="") == (
        "success",
        f"OK: 1 replaced; {FILE} has 9 bytes",
    )
    assert await call_tool("read_file", path=FILE) == ("success", "one zwei")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"old_str": "x", "new_str": "x"}, "nothing to change"),
        ({"old_str": "", "new_str": "y"}, "at least 1 character"),
        ({"old_str": "x", "new_str": 5}, "valid string"),
        ({"old_str": "x", "new_str": "y", "path": "/etc/passwd"}, "outside /mnt/user-data"),
        ({"old_str": "x", "new_str": "y", "path": "none"}, "/mnt/user-data/workspace/none"),
        ({"old_str": "x", "new_str": "y", "path": "/mnt/user-data/workspace"}, "irectory"),
        ({"old_str": "y" * 81921, "new_str": "z"}, "too many"),
    ],
)
async def test_errors_are_texts_and_change_nothing(
    call_tool: CallTool, args: dict[str, object], message: str
) -> None:
    await call_tool("write_file", path=FILE, content="x")
    status, text = await call_tool("str_replace", **({"path": FILE} | args))
    assert (status, message in text) == ("error", True), text
    assert await call_tool("read_file", path=FILE) == ("success", "x")


async def test_binary_and_large_files_are_refused(fake: FakeSandbox, call_fake: CallTool) -> None:
    for data, message in (
        (b"\x7fELF\0x", "binary"),
        (b"x" * (8 * 1024 * 1024 + 1), "more than 8388608 bytes"),
    ):
        fake.files[FILE] = data
        status, text = await call_fake("str_replace", path=FILE, old_str="x", new_str="y", replace_all=True)
        assert (status, message in text) == ("error", True), text
        assert fake.files[FILE] == data


async def test_parallel_edits_of_one_file_are_all_made(world: RunnerWorld) -> None:
    class Slow(FakeSandbox):
        @override
        async def read_file(self, path: str, *, offset: int = 0, limit: int | None = None) -> bytes:
            data = await super().read_file(path, offset=offset, limit=limit)
            await asyncio.sleep(0)
            return data

    world.provider.sandbox = Slow(files={FILE: b"".join(b"<%d>" % n for n in range(8))})
    calls = ", ".join(
        f"{{name: str_replace, args: {{path: a.txt, old_str: <{n}>, new_str: '{n}'}}}}" for n in range(8)
    )
    doc = document(f"steps: [{{toolCalls: [{calls}]}}, {{say: done}}]")
    played = await play(world, doc, assemble(doc), tools=[str_replace])
    assert played.result.outcome.class_ is OutcomeClass.SUCCEEDED
    assert world.provider.sandbox.files[FILE] == b"01234567"
