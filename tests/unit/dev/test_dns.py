"""One question and its answer, as bytes."""

from __future__ import annotations

import struct

import pytest

from skerry_devcluster.dns import address_in, query

QUESTION = query("a.bc", 7)[12:]
RECORD = b"\xc0\x0c" + struct.pack(">2HIH", 1, 1, 5, 4) + bytes([198, 19, 0, 1])


def answer(query_id: int = 7, flags: int = 0x8580, answers: int = 1, record: bytes = RECORD) -> bytes:
    return struct.pack(">6H", query_id, flags, 1, answers, 0, 0) + QUESTION + record


def test_a_question() -> None:
    assert (
        query("a.bc", 7) == b"\x00\x07\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01a\x02bc\x00\x00\x01\x00\x01"
    )


def test_an_answer() -> None:
    assert address_in(answer(), 7) == "198.19.0.1"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x00" * 12,
        answer(query_id=8),
        answer(flags=0x0100),  # a question, not an answer
        answer(flags=0x8583),  # no such name
        answer(flags=0x8582),  # the server failed
        answer(answers=0, record=b""),
    ],
)
def test_what_is_no_answer(data: bytes) -> None:
    assert address_in(data, 7) is None
