"""The client's rules, against a transport that plays sandboxd's answers: identity, retries, renewal, patience."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx
import jwt
import pytest

from skerry_api.keys import SigningKey
from skerry_runner.sandbox import errors
from skerry_runner.sandbox.access import Access
from skerry_runner.sandbox.backoff import Timing
from skerry_runner.sandbox.remote import RemoteSandbox

Step = Callable[[httpx.Request], httpx.Response]
OLD = Access("http://10.0.0.1:8090", "grant-1", "pod-1")
RENEWED = Access("http://10.0.0.1:8090", "grant-2", "pod-1")
NEW = Access("http://10.0.0.2:8090", "grant-3", "pod-2")


def answer(status: int, body: object, pod: str | None = "pod-1") -> Step:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {} if pod is None else {"Skerry-Pod-UID": pod}
    return lambda _: httpx.Response(status, stream=httpx.ByteStream(content), headers=headers)


def refusal(status: int, reason: str, pod: str | None = "pod-1") -> Step:
    return answer(status, {"reason": reason, "message": f"says {reason}"}, pod)


def broken(error: type[httpx.TransportError]) -> Step:
    def step(request: httpx.Request) -> httpx.Response:
        raise error("broken", request=request)

    return step


def events(*lines: dict[str, object], pod: str = "pod-1") -> Step:
    return answer(200, b"".join(json.dumps(line).encode() + b"\n" for line in lines), pod)


STAT = answer(200, {"path": "/a", "kind": "file", "size": 1, "mode": 420, "mtime": 1.5})
STARTED: dict[str, object] = {"type": "started", "key": "k", "pid": 7}
EXIT: dict[str, object] = {"type": "exit", "code": 0, "durationMs": 5}


def out(offset: int, data: str) -> dict[str, object]:
    return {"type": "stdout", "offset": offset, "data": data}


@dataclass
class World:
    """Plays `steps` in order; `accesses` are what the operator says, the last one for ever. Time is told by sleeps."""

    steps: list[Step]
    accesses: list[Access] = field(default_factory=lambda: [OLD])
    renewals: list[Access] = field(default_factory=list)
    requests: list[httpx.Request] = field(default_factory=list)
    now: float = 0.0

    async def current(self) -> Access:
        return self.accesses.pop(0) if len(self.accesses) > 1 else self.accesses[0]

    async def renewed(self, stale: Access) -> Access:
        if not self.renewals:
            raise errors.SandboxUnavailable(f"nothing newer than {stale.grant}")
        return self.renewals.pop(0)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    def handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        return step(request)

    def sandbox(self) -> RemoteSandbox:
        timing = Timing(
            unavailable_after=30, monotonic=lambda: self.now, sleep=self.sleep, jitter=lambda: 0.5
        )
        return RemoteSandbox(
            "sbx", self, SigningKey.generate(), timing=timing, transport=httpx.MockTransport(self.handle)
        )

    @property
    def bodies(self) -> list[bytes]:
        return [request.content for request in self.requests]


def jti(request: httpx.Request) -> str:
    claims = jwt.decode(request.headers["DPoP"], options={"verify_signature": False})
    return str(claims["jti"])


async def test_a_call_is_signed_with_the_grant() -> None:
    world = World([STAT])
    assert (await world.sandbox().stat("/a")).size == 1
    (request,) = world.requests
    assert request.headers["Authorization"] == "DPoP grant-1"
    claims = jwt.decode(request.headers["DPoP"], options={"verify_signature": False})
    assert (claims["htm"], claims["htu"]) == ("GET", "http://10.0.0.1:8090/v1/files/stat")


@pytest.mark.parametrize(
    "error", [httpx.ConnectError, httpx.ConnectTimeout, httpx.ReadError, httpx.RemoteProtocolError]
)
async def test_lost_connections_are_tried_again_with_the_same_key(error: type[httpx.TransportError]) -> None:
    world = World([broken(error), broken(error), events(STARTED, out(0, "x"), EXIT)])
    result = await world.sandbox().execute("echo x", key="k")
    assert (result.exit_code, result.stdout) == (0, b"x")
    assert len(set(world.bodies)) == 1
    assert json.loads(world.bodies[0])["key"] == "k"
    assert len({jti(request) for request in world.requests}) == 3


async def test_a_broken_stream_is_resumed_where_it_stopped() -> None:
    world = World([events(STARTED, out(0, "one ")), events(STARTED, out(4, "two"), EXIT)])
    result = await world.sandbox().execute("x", key="k")
    assert result.stdout == b"one two"
    assert [request.url.params["after"] for request in world.requests] == ["0", "4"]


@pytest.mark.parametrize("status", [502, 503, 200, 404])
async def test_answers_without_the_pods_name_are_nobodys(status: int) -> None:
    world = World([answer(status, b"<html>", pod=None), STAT])
    assert (await world.sandbox().stat("/a")).size == 1
    assert len(world.requests) == 2


@pytest.mark.parametrize(("status", "reason"), [(429, "Busy"), (503, "ShuttingDown")])
async def test_busy_is_waited_out(status: int, reason: str) -> None:
    world = World([refusal(status, reason), refusal(status, reason), STAT])
    await world.sandbox().stat("/a")
    assert (len(world.requests), world.now > 0) == (3, True)


async def test_silence_ends_as_unknown_not_as_dead() -> None:
    world = World([broken(httpx.ConnectError)])
    with pytest.raises(errors.SandboxUnavailable, match="may have run"):
        await world.sandbox().execute("x", key="k")
    assert 30 <= world.now < 40
    assert 5 < len(world.requests) < 40


async def test_a_contact_renews_patience() -> None:
    # Each break comes after 20 s of silence; together they are longer than the patience.
    world = World([])

    def cut(request: httpx.Request) -> httpx.Response:
        world.now += 20
        return events(STARTED, out(0, ""))(request)

    world.steps = [cut, cut, cut, events(STARTED, EXIT)]
    assert (await world.sandbox().execute("x", key="k")).exit_code == 0


class TestReplaced:
    async def test_another_pod_answers_is_never_sent_again(self) -> None:
        world = World([events(STARTED, EXIT, pod="pod-2")])
        with pytest.raises(errors.SandboxReplaced) as caught:
            await world.sandbox().execute("x", key="k")
        assert caught.value.may_have_run
        assert len(world.requests) == 1

    async def test_another_pod_that_refuses_did_not_run_it(self) -> None:
        world = World([refusal(421, "PodMismatch", pod="pod-2")])
        with pytest.raises(errors.SandboxReplaced) as caught:
            await world.sandbox().execute("x", key="k")
        assert not caught.value.may_have_run
        assert "was not run" in str(caught.value)

    async def test_but_an_earlier_try_may_have(self) -> None:
        world = World([broken(httpx.ReadError), refusal(421, "PodMismatch", pod="pod-2")])
        with pytest.raises(errors.SandboxReplaced) as caught:
            await world.sandbox().execute("x", key="k")
        assert caught.value.may_have_run

    @pytest.mark.parametrize(("error", "ran"), [(httpx.ConnectError, False), (httpx.ReadError, True)])
    async def test_the_status_names_another_pod_between_tries(
        self, error: type[httpx.TransportError], ran: bool
    ) -> None:
        world = World([broken(error)], accesses=[OLD, NEW])
        with pytest.raises(errors.SandboxReplaced) as caught:
            await world.sandbox().execute("x", key="k")
        assert caught.value.may_have_run is ran
        assert len(world.requests) == 1

    async def test_replaced_between_calls_is_told_once(self) -> None:
        world = World([STAT, answer(200, {"path": "/a", "kind": "file", "size": 2, "mode": 0, "mtime": 0}, "pod-2")],
                      accesses=[OLD, NEW])  # fmt: skip
        sandbox = world.sandbox()
        assert sandbox.pod_uid is None
        await sandbox.stat("/a")
        assert sandbox.pod_uid == "pod-1"
        with pytest.raises(errors.SandboxReplaced) as caught:
            await sandbox.execute("x", key="k")
        assert not caught.value.may_have_run
        assert (await sandbox.stat("/a")).size == 2
        assert sandbox.pod_uid == "pod-2"
        assert world.requests[-1].url.host == "10.0.0.2"

    async def test_after_being_told_it_waits_for_the_new_access(self) -> None:
        other = answer(200, {"path": "/a", "kind": "file", "size": 2, "mode": 0, "mtime": 0}, "pod-2")
        world = World([refusal(421, "PodMismatch", pod="pod-2"), other], renewals=[NEW])
        sandbox = world.sandbox()
        with pytest.raises(errors.SandboxReplaced):
            await sandbox.stat("/a")
        # The status still names the old Pod here.
        assert (await sandbox.stat("/a")).size == 2


class TestGrants:
    async def test_an_expired_one_is_renewed_once_and_nothing_is_lost(self) -> None:
        world = World([refusal(401, "GrantExpired"), STAT], renewals=[RENEWED])
        assert (await world.sandbox().stat("/a")).size == 1
        assert [r.headers["Authorization"] for r in world.requests] == ["DPoP grant-1", "DPoP grant-2"]

    async def test_but_only_once(self) -> None:
        world = World([refusal(401, "GrantExpired")], renewals=[RENEWED, RENEWED])
        with pytest.raises(errors.SandboxRefused) as caught:
            await world.sandbox().stat("/a")
        assert caught.value.reason == "GrantExpired"
        assert len(world.requests) == 2

    async def test_renewed_for_another_pod_is_a_replacement(self) -> None:
        world = World([refusal(401, "GrantExpired")], renewals=[NEW])
        with pytest.raises(errors.SandboxReplaced) as caught:
            await world.sandbox().execute("x", key="k")
        assert not caught.value.may_have_run

    @pytest.mark.parametrize(
        ("status", "reason", "error"),
        [
            (401, "GrantInvalid", errors.SandboxRefused),
            (401, "ProofInvalid", errors.SandboxRefused),
            (403, "SandboxMismatch", errors.SandboxRefused),
            (403, "StaleEpoch", errors.SandboxFenced),
            (409, "KeyConflict", errors.CommandConflict),
            (400, "InvalidRequest", errors.InvalidCall),
            (413, "TooLarge", errors.InvalidCall),
            (500, "Internal", errors.SandboxProtocolError),
        ],
    )
    async def test_refusals_are_final(
        self, status: int, reason: str, error: type[errors.SandboxError]
    ) -> None:
        world = World([refusal(status, reason), events(EXIT)])
        with pytest.raises(error, match=f"says {reason}"):
            await world.sandbox().execute("x", key="k")
        assert [r.method for r in world.requests].count("POST") == 1


class TestNonsense:
    @pytest.mark.parametrize(
        "line",
        [{"type": "boom"}, {"type": "stdout"}, out(5, "ahead"), {**out(0, "?"), "encoding": "base64"}],
    )
    async def test_events(self, line: dict[str, object]) -> None:
        world = World([events(STARTED, line, EXIT)])
        with pytest.raises(errors.SandboxProtocolError):
            await world.sandbox().execute("x", key="k")
        # It is told to end what it may have started.
        assert world.requests[-1].method == "DELETE"

    async def test_more_output_than_asked_for(self) -> None:
        piece = "x" * 60_000
        world = World([events(STARTED, *(out(n * 60_000, piece) for n in range(30)), EXIT)])
        with pytest.raises(errors.SandboxProtocolError, match="more output"):
            await world.sandbox().execute("x", key="k", max_output_bytes=4096)

    async def test_an_endless_line(self) -> None:
        world = World([answer(200, b"x" * 3_000_000)])
        with pytest.raises(errors.SandboxProtocolError, match="line"):
            await world.sandbox().execute("x", key="k")

    async def test_a_stream_that_never_ends_anything(self) -> None:
        world = World([events(STARTED)])
        with pytest.raises(errors.SandboxError):
            await world.sandbox().execute("x", key="k")

    async def test_an_answer_of_another_shape(self) -> None:
        with pytest.raises(errors.SandboxProtocolError, match="FileStat"):
            await World([answer(200, {"x": 1})]).sandbox().stat("/a")

    async def test_an_error_without_a_reason(self) -> None:
        with pytest.raises(errors.SandboxProtocolError, match="418"):
            await World([answer(418, b"teapot")]).sandbox().stat("/a")


async def test_lost_is_told() -> None:
    world = World([events(STARTED, {"type": "lost", "message": "restarted"})])
    with pytest.raises(errors.CommandLost, match="restarted"):
        await world.sandbox().execute("x", key="k")


async def test_an_append_keeps_its_key_over_its_tries() -> None:
    world = World([broken(httpx.ReadError), answer(200, {"path": "/a", "size": 3})])
    assert await world.sandbox().write_file("/a", b"abc", append=True) == 3
    keys = [request.url.params["key"] for request in world.requests]
    assert len(keys) == 2
    assert keys[0] == keys[1]


async def test_bad_calls_are_not_sent() -> None:
    world = World([STAT])
    with pytest.raises(errors.InvalidCall) as caught:
        await world.sandbox().execute("x", key="a/b")
    assert (caught.value.field, world.requests) == ("key", [])
    with pytest.raises(errors.InvalidCall) as caught:
        await world.sandbox().execute("x", key="a", env={"1": "x"})
    assert caught.value.field == "env.1.[key]"
