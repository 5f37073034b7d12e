"""HttpRunPort against a real HTTP server on loopback: paths, tokens, errors. The API server's own ways are
tested in tests/integration/runner."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from skerry_runner.cluster.http import HttpRunPort, api_error, read_profile
from skerry_runner.cluster.port import (
    ApiConflict,
    ApiError,
    ApiExpired,
    ApiForbidden,
    ApiNotFound,
    ApiRejected,
    ApiUnauthorized,
    ApiUnavailable,
    EventType,
)

RUNS = "/apis/skerry.dev/v1alpha1/namespaces/ns/agentruns"


@dataclass
class Stub:
    """Answers every request the same way and keeps what came."""

    status: int = 200
    body: bytes = b"{}"
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def stub() -> Iterator[tuple[Stub, str]]:
    told = Stub()

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length", "0"))
            told.requests.append((self.command, self.path, dict(self.headers), self.rfile.read(length)))
            self.send_response(told.status)
            self.send_header("Content-Length", str(len(told.body)))
            self.end_headers()
            self.wfile.write(told.body)

        do_GET = do_PATCH = _answer  # noqa: N815 - names of the base class

        @override
        def log_message(self, format: str, *args: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield told, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def account(tmp_path: Path) -> Path:
    (tmp_path / "token").write_text("t1\n")
    return tmp_path


async def test_an_apply_is_the_managers_whole_set_by_force(stub: tuple[Stub, str], account: Path) -> None:
    told, url = stub
    async with HttpRunPort(url, account, "ns", "r") as port:
        await port.apply_status({"sandboxId": "s"})
    method, path, headers, body = told.requests[0]
    assert (method, path) == ("PATCH", f"{RUNS}/r/status?fieldManager=skerry-runner&force=true")
    assert headers["Content-Type"] == "application/apply-patch+yaml"
    assert json.loads(body) == {
        "apiVersion": "skerry.dev/v1alpha1",
        "kind": "AgentRun",
        "metadata": {"name": "r", "namespace": "ns"},
        "status": {"sandboxId": "s"},
    }


@pytest.mark.parametrize("body", [b"<html>", b"[]", b""])
async def test_an_answer_that_is_no_object_says_nothing(
    stub: tuple[Stub, str], account: Path, body: bytes
) -> None:
    told, url = stub
    told.body = body
    async with HttpRunPort(url, account, "ns", "r") as port:
        with pytest.raises(ApiUnavailable):
            await port.get()


async def test_a_renewed_token_is_used_with_the_next_request(stub: tuple[Stub, str], account: Path) -> None:
    told, url = stub
    async with HttpRunPort(url, account, "ns", "r") as port:
        await port.get()
        (account / "token").write_text("t2")
        await port.get()
        (account / "token").unlink()
        with pytest.raises(ApiUnavailable, match="token"):
            await port.get()
    assert [headers["Authorization"] for _, _, headers, _ in told.requests] == ["Bearer t1", "Bearer t2"]


async def test_a_watch_yields_events_until_the_server_ends_it(stub: tuple[Stub, str], account: Path) -> None:
    told, url = stub
    kinds = ["ADDED", "MODIFIED", "BOOKMARK", "DELETED"]
    told.body = b"".join(
        json.dumps({"type": kind, "object": {"metadata": {"resourceVersion": "9"}}}).encode() + b"\n"
        for kind in kinds
    )
    async with HttpRunPort(url, account, "ns", "r") as port:
        events = [event.type async for event in port.watch("7")]
    assert events == [EventType.CHANGED, EventType.CHANGED, EventType.BOOKMARK, EventType.DELETED]
    path = told.requests[0][1]
    assert path.startswith(f"{RUNS}?watch=true&fieldSelector=metadata.name%3Dr&resourceVersion=7&")


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b'{"type":"ERROR","object":{"code":410,"message":"too old resource version"}}\n', ApiExpired),
        (b'{"type":"ERROR","object":{"code":500}}\n', ApiUnavailable),
        (b'{"type":"MODI\n', ApiUnavailable),
        (b'["what"]\n', ApiUnavailable),
        (b'{"type":"MODIFIED","object":[]}\n', ApiUnavailable),
    ],
)
async def test_a_watch_that_goes_wrong_says_how(
    stub: tuple[Stub, str], account: Path, body: bytes, error: type[ApiError]
) -> None:
    told, url = stub
    told.body = body
    async with HttpRunPort(url, account, "ns", "r") as port:
        with pytest.raises(error):
            _ = [event async for event in port.watch("7")]


async def test_a_refused_watch_says_why(stub: tuple[Stub, str], account: Path) -> None:
    told, url = stub
    told.status, told.body = 403, b'{"message": "no watch for you"}'
    async with HttpRunPort(url, account, "ns", "r") as port:
        with pytest.raises(ApiForbidden, match="no watch for you"):
            _ = [event async for event in port.watch("7")]


async def test_no_server_is_no_answer(account: Path) -> None:
    async with HttpRunPort("http://127.0.0.1:1", account, "ns", "r") as port:
        with pytest.raises(ApiUnavailable):
            await port.get()
        with pytest.raises(ApiUnavailable):
            _ = [event async for event in port.watch("7")]


@pytest.mark.parametrize(
    ("status", "message", "error"),
    [
        (400, "bad", ApiRejected),
        (401, "Unauthorized", ApiUnauthorized),
        (403, "policy", ApiForbidden),
        (404, "gone", ApiNotFound),
        (409, "conflict", ApiConflict),
        (410, "expired", ApiExpired),
        (422, "invalid", ApiRejected),
        (422, "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: not yet", ApiForbidden),
        (429, "busy", ApiUnavailable),
        (500, "etcdserver: no leader", ApiUnavailable),
        (500, ".status.runner.mood: field not declared in schema", ApiRejected),
        (503, "", ApiUnavailable),
    ],
)
async def test_errors_say_whether_trying_again_can_help(
    stub: tuple[Stub, str], account: Path, status: int, message: str, error: type[ApiError]
) -> None:
    told, url = stub
    told.status, told.body = status, json.dumps({"message": message}).encode()
    async with HttpRunPort(url, account, "ns", "r") as port:
        with pytest.raises(error) as caught:
            await port.apply_status({})
    assert type(caught.value) is error
    assert str(caught.value) == str(api_error(status, message))
    assert str(status) in str(caught.value)


async def test_a_profile_is_read_in_one_call(stub: tuple[Stub, str], account: Path) -> None:
    told, url = stub
    told.body = b'{"kind": "AgentProfile"}'
    assert await read_profile(url, account, "ns", "p") == {"kind": "AgentProfile"}
    ((method, path, headers, _),) = told.requests
    assert (method, path) == ("GET", "/apis/skerry.dev/v1alpha1/namespaces/ns/agentprofiles/p")
    assert headers["Authorization"] == "Bearer t1"
    told.status = 403
    with pytest.raises(ApiForbidden):
        await read_profile(url, account, "ns", "p")
