"""Signed requests to one sandbox: proofs, Pod identity, retries, renewal. Knows HTTP, no meaning of calls.

Rules that hold for every call: a proof is new on every try; an answer from another Pod than the call began
with ends the call, which is never sent again; silence is waited out and then called unknown, not dead.
"""

import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

import httpx

from skerry_api.keys import SigningKey
from skerry_api.proofs import hash_b64url, make_proof
from skerry_api.sandboxd_api import HEADER_POD_UID, ErrorBody, Reason
from skerry_runner.sandbox.access import Access, AccessProvider
from skerry_runner.sandbox.backoff import Backoff, Timing
from skerry_runner.sandbox.errors import SandboxProtocolError, SandboxReplaced, SandboxUnavailable
from skerry_runner.sandbox.refusals import parse_refusal, to_error

__all__ = ["Attempt", "Call", "Transient", "Wire"]

_MAX_ERROR_BODY: Final = 64 * 1024
_TRANSIENT: Final = (Reason.BUSY, Reason.SHUTTING_DOWN)
_UNSENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)


class Transient(Exception):
    """A try failed in a way that a later try of the same call may not."""


@dataclass(frozen=True)
class Call:
    """One request, to be signed anew for each try. `path` of the URL; `subject` the file it is about, for errors."""

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    subject: str | None = None


@dataclass
class Attempt:
    """One call over all its tries. `access` may be renewed, its Pod stays; `sent`: some try may have had effect."""

    access: Access
    backoff: Backoff
    sent: bool = False


class Wire:
    """The connection to one sandbox over its Pods."""

    def __init__(
        self,
        access: AccessProvider,
        key: SigningKey,
        timing: Timing,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        wall: Callable[[], float] = time.time,
        new_jti: Callable[[], str] = secrets.token_urlsafe,
    ) -> None:
        self._provider = access
        self._key = key
        self._timing = timing
        self._wall = wall
        self._new_jti = new_jti
        self._pod_uid: str | None = None
        self._replaced: str | None = None
        # Proxies of the environment are for the internet, never for a Pod.
        self._http = httpx.AsyncClient(
            transport=transport,
            trust_env=False,
            headers={"Accept-Encoding": "identity"},
            timeout=httpx.Timeout(timing.silence, connect=timing.connect),
            limits=httpx.Limits(max_connections=64, max_keepalive_connections=16, keepalive_expiry=30),
        )

    @property
    def pod_uid(self) -> str | None:
        """The Pod that the last call was meant for."""
        return self._pod_uid

    async def close(self) -> None:
        await self._http.aclose()

    async def begin(self) -> Attempt:
        """Begin a call. Raises SandboxReplaced (once) if the Pod changed since the last one."""
        access = await self._provider.current()
        if self._replaced is not None:
            # Told already. The status may still name the old Pod.
            if access.pod_uid == self._replaced:
                access = await self._provider.renewed(access)
            self._replaced = None
        elif self._pod_uid is not None and access.pod_uid != self._pod_uid:
            self._pod_uid = access.pod_uid
            raise SandboxReplaced(may_have_run=False)
        self._pod_uid = access.pod_uid
        return Attempt(access, Backoff(self._timing))

    async def again(self, attempt: Attempt, why: str) -> None:
        """Wait before another try. Raises SandboxUnavailable, SandboxReplaced."""
        await attempt.backoff.pause(why)
        try:
            self._follow(attempt, await self._provider.current())
        except SandboxUnavailable:
            return  # no access now: the one we have is as good as any, and patience decides

    @asynccontextmanager
    async def send(self, attempt: Attempt, call: Call) -> AsyncIterator[httpx.Response]:
        """One try. Yields a streaming 2xx answer of the right Pod; raises Transient or a SandboxError.

        An expired grant is renewed once within the try, since nothing has run then.
        """
        try:
            response = await self._open(attempt, call)
            try:
                yield response
            finally:
                await response.aclose()
        except httpx.TransportError as error:
            attempt.sent |= not isinstance(error, _UNSENT)
            raise Transient(f"{type(error).__name__} {error}".rstrip()) from error

    async def fetch(
        self, call: Call, *, limit: int, attempt: Attempt | None = None
    ) -> tuple[httpx.Headers, bytes]:
        """A whole idempotent call, tried until patience ends. Raises SandboxError."""
        attempt = attempt or await self.begin()
        while True:
            try:
                async with self.send(attempt, call) as response:
                    return response.headers, await _read(response, limit)
            except Transient as error:
                await self.again(attempt, str(error))

    def _follow(self, attempt: Attempt, access: Access) -> None:
        if access.pod_uid != attempt.access.pod_uid:
            self._pod_uid = access.pod_uid
            raise SandboxReplaced(may_have_run=attempt.sent)
        attempt.access = access

    async def _open(self, attempt: Attempt, call: Call) -> httpx.Response:
        refusal = None
        for _ in range(2):
            response = await self._http.send(self._sign(attempt.access, call), stream=True)
            try:
                refusal = await self._judge(response, attempt)
            except BaseException:
                await response.aclose()
                raise
            if refusal is None:
                attempt.sent = True
                return response
            await response.aclose()
            if refusal.reason is not Reason.GRANT_EXPIRED:
                break
            self._follow(attempt, await self._provider.renewed(attempt.access))
        assert refusal is not None  # noqa: S101  # the loop ran
        if refusal.reason in _TRANSIENT:
            raise Transient(f"{refusal.reason}: {refusal.message}")
        raise to_error(refusal, call.subject)

    async def _judge(self, response: httpx.Response, attempt: Attempt) -> ErrorBody | None:
        """None for a good answer of the right Pod, else its refusal."""
        pod_uid = response.headers.get(HEADER_POD_UID)
        if pod_uid is None:
            # Not sandboxd's own words: something in between, or somebody else at its address.
            raise Transient(f"HTTP {response.status_code} without the sandbox's name")
        if pod_uid != attempt.access.pod_uid:
            self._replaced = attempt.access.pod_uid
            raise SandboxReplaced(may_have_run=attempt.sent or response.status_code != 421)
        if response.is_success:
            return None
        refusal = parse_refusal(await _read(response, _MAX_ERROR_BODY))
        if refusal is None:
            raise SandboxProtocolError(f"the sandbox answered HTTP {response.status_code} without a reason")
        return refusal

    def _sign(self, access: Access, call: Call) -> httpx.Request:
        url = access.endpoint.rstrip("/") + call.path
        request = self._http.build_request(
            call.method, url, params=dict(call.params), content=call.body or None
        )
        proof = make_proof(
            self._key,
            method=call.method,
            url=str(request.url),
            grant=access.grant,
            body_hash=hash_b64url(call.body),
            now=int(self._wall()),
            jti=self._new_jti(),
        )
        request.headers["Authorization"] = f"DPoP {access.grant}"
        request.headers["DPoP"] = proof
        return request


async def _read(response: httpx.Response, limit: int) -> bytes:
    """The body; more than `limit` bytes is a SandboxProtocolError."""
    parts: list[bytes] = []
    total = 0
    async for part in response.aiter_raw():
        total += len(part)
        if total > limit:
            raise SandboxProtocolError(f"the sandbox answered with more than {limit} bytes")
        parts.append(part)
    return b"".join(parts)
