"""HTTP answers to errors, by table."""

from __future__ import annotations

import json

import pytest

from skerry_operator.errors import (
    AlreadyExists,
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    KubeError,
    NotFound,
    Unknown,
)
from skerry_operator.kube.status import error_of


def body(reason: str = "", message: str = "words") -> bytes:
    return json.dumps({"kind": "Status", "reason": reason, "message": message}).encode()


@pytest.mark.parametrize(
    ("status", "answer", "expected"),
    [
        (400, body("BadRequest"), Invalid),
        (401, body("Unauthorized"), Unknown),
        (403, body("Forbidden"), Forbidden),
        (404, body("NotFound"), NotFound),
        (409, body("Conflict"), Conflict),
        (409, body("AlreadyExists"), AlreadyExists),
        (410, body("Expired"), Gone),
        (413, b"too large", Invalid),
        (422, body("Invalid"), Invalid),
        (429, body("TooManyRequests"), Unknown),
        (500, body("InternalError"), Unknown),
        (500, body("", "failed: .status.novel: field not declared in schema"), Invalid),
        (503, b"<html>upstream</html>", Unknown),
        (504, b"", Unknown),
    ],
)
def test_every_answer_has_its_error(status: int, answer: bytes, expected: type[KubeError]) -> None:
    error = error_of(status, answer, where="get Pod a/b")
    assert type(error) is expected
    assert error.status == status
    assert str(error).startswith("get Pod a/b: ")


@pytest.mark.parametrize(("header", "seconds"), [("7", 7.0), (None, None), ("Wed, 01 Jan", None)])
def test_the_servers_wish_to_wait_is_kept(header: str | None, seconds: float | None) -> None:
    error = error_of(429, body(), header)
    assert isinstance(error, Unknown)
    assert error.retry_after == seconds


def test_a_message_of_any_length_is_cut() -> None:
    assert len(error_of(422, body(message="x" * 100_000)).message) == 2048


def test_json_that_is_no_object_is_no_message() -> None:
    assert error_of(500, b"[1]").message == "HTTP 500"
