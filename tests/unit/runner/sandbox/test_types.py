"""Keys and results."""

from __future__ import annotations

import re

import pytest

from skerry_runner.sandbox.types import Chunk, ExecResult, Source, execution_key

WIRE = re.compile(r"[A-Za-z0-9._:~-]{1,256}")


@pytest.mark.parametrize(
    "parts",
    [
        ("uid-1", "run--abc", 0, 1),
        ("uid", "msg/with slash", 0),
        ("uid", "ü", 1),
        ("u", "x" * 500),
        ("a~b", "c"),
        ("",),
    ],
)
def test_keys_fit_the_wire_and_repeat(parts: tuple[str | int, ...]) -> None:
    assert WIRE.fullmatch(execution_key(*parts))
    assert execution_key(*parts) == execution_key(*parts)


def test_plain_keys_can_be_read() -> None:
    assert execution_key("uid-1", "run--abc", 0, 1) == "uid-1~run--abc~0~1"


def test_different_parts_different_keys() -> None:
    keys = [("a", "b"), ("a~b",), ("ab",), ("a", "", "b"), ("a", "b", 0), ("a/", "b"), ("a", "/b")]
    assert len({execution_key(*parts) for parts in keys}) == len(keys)


def test_text_names_gaps_and_replaces_what_is_no_text() -> None:
    chunks = (
        Chunk(Source.STDOUT, "grü".encode()[:-1]),
        Chunk(Source.STDOUT, "grü".encode()[-1:]),
        Chunk(Source.GAP, dropped=5),
        Chunk(Source.STDERR, b"\xff!"),
    )
    result = ExecResult(exit_code=0, signal=None, chunks=chunks, duration_ms=1)
    assert result.text == "grü\n[5 bytes of output omitted]\n\ufffd!"
    assert (result.dropped, result.truncated) == (5, True)
