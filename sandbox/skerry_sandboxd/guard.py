"""The door of the TCP side: every request but GET /health shows a grant and a proof that fits it.

Everything is checked before a route sees the request. Bodies are read and compared with the signed hash
here, so no handler can act on an unverified one; only uploads, which may be large, are handed on with the
hash and verified while they are spooled, before they have an effect.
"""

import hashlib
from typing import Final

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skerry_api.grants import Grant, GrantError, GrantProblem, GrantRole, verify_grant
from skerry_api.proofs import Proof, ProofError, ProofProblem, ReplayWindow, verify_proof
from skerry_api.sandboxd_api import Reason, User
from skerry_sandboxd.body import read_body
from skerry_sandboxd.clock import Clock
from skerry_sandboxd.errors import ApiError
from skerry_sandboxd.fence import Fence
from skerry_sandboxd.idle import IdleClock
from skerry_sandboxd.replies import error_response
from skerry_sandboxd.settings import Settings

__all__ = ["Guard", "LocalDoor", "is_upload"]

_OPEN: Final = ("GET", "/health")
_MAX_CACHED_GRANTS: Final = 64


def is_upload(scope: Scope) -> bool:
    """The one route whose body is streamed to a file."""
    return bool(scope["method"] == "PUT" and scope["path"] == "/v1/files")


class Guard:
    """ASGI middleware. Sets scope["state"]: user (User), body_hash (Proof, for uploads)."""

    def __init__(self, app: ASGIApp, settings: Settings, clock: Clock, idle: IdleClock) -> None:
        self._app = app
        self._settings = settings
        self._clock = clock
        self._idle = idle
        self._fence = Fence()
        self._replay = ReplayWindow()
        self._grants: dict[str, Grant] = {}
        self._sandbox_id = settings.sandbox_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or (scope["method"], scope["path"]) == _OPEN:
            await self._app(scope, receive, send)
            return
        try:
            grant, proof = self._admit(scope)
            body = b"" if is_upload(scope) else await self._body(receive, proof)
        except ApiError as error:
            await error_response(error)(scope, receive, send)
            return
        user = User.OPERATOR if grant.role is GrantRole.OPERATOR else User.RUNNER
        self._idle.touch(user)
        scope.setdefault("state", {}).update(user=user, proof=proof)
        await self._app(scope, receive if is_upload(scope) else _replayed(body, receive), send)

    def _admit(self, scope: Scope) -> tuple[Grant, Proof]:
        headers = Headers(scope=scope)
        now = int(self._clock.wall())
        token = _single(headers, "authorization")
        scheme, _, token = token.partition(" ")
        if scheme.lower() != "dpop" or not token:
            raise ApiError(Reason.GRANT_MISSING, "Authorization: DPoP <grant> is needed")
        grant = self._grant(token, now)
        proof = self._proof(scope, headers, token, grant, now)
        self._check_target(grant)
        refusal = self._fence.admit(grant)
        if refusal is not None:
            raise ApiError(Reason.STALE_EPOCH, refusal)
        # A warm Pod has no sandbox of its own yet: the operator's first signed word makes it one for good.
        self._sandbox_id = self._sandbox_id or grant.sandbox_id
        return grant, proof

    def _grant(self, token: str, now: int) -> Grant:
        known = self._grants.get(token)
        try:
            if known is None or known.exp <= now:
                self._grants.pop(token, None)
                known = verify_grant(token, self._settings.keys, now=now)
                while len(self._grants) >= _MAX_CACHED_GRANTS:
                    del self._grants[next(iter(self._grants))]
                self._grants[token] = known
        except GrantError as error:
            expired = error.problem is GrantProblem.EXPIRED
            reason = Reason.GRANT_EXPIRED if expired else Reason.GRANT_INVALID
            raise ApiError(reason, f"grant: {error.problem}: {error}") from error
        return known

    def _proof(self, scope: Scope, headers: Headers, token: str, grant: Grant, now: int) -> Proof:
        path = scope.get("raw_path") or scope["path"].encode("ascii", errors="replace")
        query = scope["query_string"]
        target = path.decode("latin-1") + (f"?{query.decode('latin-1')}" if query else "")
        url = f"{scope['scheme']}://{headers.get('host', '')}{target}"
        try:
            proof = verify_proof(
                _single(headers, "dpop"),
                method=scope["method"], url=url, grant=token, jkt=grant.cnf.jkt, now=now,
            )  # fmt: skip
            self._replay.claim(proof.jti, now=now)
        except ProofError as error:
            raise _proof_failure(error) from error
        return proof

    def _check_target(self, grant: Grant) -> None:
        """After the proof: only the holder of a grant's key learns whether it is for us."""
        ours = self._sandbox_id
        if grant.namespace != self._settings.namespace or (ours is not None and grant.sandbox_id != ours):
            raise ApiError(Reason.SANDBOX_MISMATCH, "the grant is for another sandbox")
        if grant.pod_uid != self._settings.pod_uid:
            raise ApiError(
                Reason.POD_MISMATCH, f"the grant is for Pod {grant.pod_uid}, this is {self._settings.pod_uid}"
            )

    async def _body(self, receive: Receive, proof: Proof) -> bytes:
        limits = self._settings.limits
        body = await read_body(receive, limit=limits.request_body, patience=limits.body_idle_seconds)
        try:
            proof.check_body(hashlib.sha256(body).digest())
        except ProofError as error:
            raise _proof_failure(error) from error
        return body


class LocalDoor:
    """The door of the unix socket: whoever reaches it has the rights of the Pod already. Counts as use."""

    def __init__(self, app: ASGIApp, settings: Settings, idle: IdleClock) -> None:
        self._app = app
        self._limits = settings.limits
        self._idle = idle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] != "/health":
            self._idle.touch(User.LOCAL)
            scope.setdefault("state", {}).update(user=User.LOCAL, proof=None)
            if not is_upload(scope):
                limit, patience = self._limits.request_body, self._limits.body_idle_seconds
                try:
                    body = await read_body(receive, limit=limit, patience=patience)
                except ApiError as error:
                    await error_response(error)(scope, receive, send)
                    return
                receive = _replayed(body, receive)
        await self._app(scope, receive, send)


def _single(headers: Headers, name: str) -> str:
    values = headers.getlist(name)
    if len(values) > 1:
        raise ApiError(Reason.PROOF_INVALID, f"header {name} came {len(values)} times")
    return values[0] if values else ""


def _proof_failure(error: ProofError) -> ApiError:
    reason = {
        ProofProblem.REPLAYED: Reason.PROOF_REPLAYED,
        ProofProblem.WRONG_BODY: Reason.BODY_MISMATCH,
        ProofProblem.WINDOW_FULL: Reason.BUSY,
    }.get(error.problem, Reason.PROOF_INVALID)
    return ApiError(reason, f"proof: {error.problem}: {error}")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Hand out the body we have read, then what comes after it (the disconnect)."""
    done = False

    async def replay() -> Message:
        nonlocal done
        if done:
            return await receive()
        done = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay
