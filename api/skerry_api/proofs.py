"""Proofs: DPoP (RFC 9449) for calls to sandboxd, plus hashes of the query and of the body.

RFC 9449 binds method, URL without query, time, a one-time id and the token. A command travels in the body
and a path in the query, so two claims more bind those: `bh` and `qh`, base64url SHA-256 of the exact bytes.
Verification is a pure function; remembering `jti` values is `ReplayWindow`'s work. Times are Unix seconds.
"""

import hashlib
import hmac
from collections import OrderedDict
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final
from urllib.parse import urlsplit

import jwt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from skerry_api.keys import KeyFormatError, PublicKey, SigningKey, b64url

__all__ = [
    "EMPTY_BODY_HASH",
    "PROOF_WINDOW_SECONDS",
    "REPLAY_MEMORY_SECONDS",
    "Proof",
    "ProofError",
    "ProofProblem",
    "ReplayWindow",
    "hash_b64url",
    "make_proof",
    "split_url",
    "verify_proof",
]

PROOF_TYPE: Final = "dpop+jwt"
PROOF_WINDOW_SECONDS: Final = 60
REPLAY_MEMORY_SECONDS: Final = 120
MAX_PROOF_CHARS: Final = 4096


class ProofProblem(StrEnum):
    """Why a proof is refused."""

    MALFORMED = "Malformed"
    WRONG_KEY = "WrongKey"
    BAD_SIGNATURE = "BadSignature"
    WRONG_METHOD = "WrongMethod"
    WRONG_URL = "WrongURL"
    WRONG_QUERY = "WrongQuery"
    WRONG_GRANT = "WrongGrant"
    OUTSIDE_WINDOW = "OutsideWindow"
    WRONG_BODY = "WrongBody"
    REPLAYED = "Replayed"
    WINDOW_FULL = "WindowFull"


class ProofError(Exception):
    """A proof that must not be honoured. `problem` is stable, the message is for people."""

    def __init__(self, problem: ProofProblem, message: str) -> None:
        super().__init__(message)
        self.problem: Final = problem


class _ProofClaims(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    htm: str
    htu: str
    iat: int
    jti: str = Field(min_length=16, max_length=64)
    ath: str
    bh: str
    qh: str


@dataclass(frozen=True)
class Proof:
    """What is left to check once the proof itself is sound: the body's hash, and that `jti` is new."""

    jti: str
    iat: int
    body_hash: str

    def check_body(self, digest: bytes) -> None:
        """Compare with the SHA-256 digest of the body that really came. Raises ProofError."""
        if not hmac.compare_digest(self.body_hash, b64url(digest)):
            raise ProofError(ProofProblem.WRONG_BODY, "the body is not the one that was signed")


def hash_b64url(data: bytes) -> str:
    """Base64url SHA-256, the form of `ath`, `bh` and `qh`."""
    return b64url(hashlib.sha256(data).digest())


EMPTY_BODY_HASH: Final = hash_b64url(b"")


def split_url(url: str) -> tuple[str, bytes]:
    """Split into the normal form of `htu` (lower-case scheme and host, explicit port) and the raw query.

    Raises ValueError for anything but an absolute http(s) URL.
    """
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("not an absolute http URL")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port}{parts.path or '/'}", parts.query.encode("ascii", errors="strict")


def make_proof(
    key: SigningKey, *, method: str, url: str, grant: str, body_hash: str, now: int, jti: str
) -> str:
    """One proof for one request. `url` is the URL as sent, `jti` must be fresh (16 to 64 characters)."""
    htu, query = split_url(url)
    claims = {
        "htm": method, "htu": htu, "iat": now, "jti": jti,
        "ath": hash_b64url(grant.encode("ascii")), "bh": body_hash, "qh": hash_b64url(query),
    }  # fmt: skip
    headers = {"typ": PROOF_TYPE, "jwk": key.public.jwk}
    return jwt.encode(claims, key.crypto, algorithm="EdDSA", headers=headers)


def verify_proof(token: str, *, method: str, url: str, grant: str, jkt: str, now: int) -> Proof:
    """Check everything about a proof but body and replay. Raises ProofError.

    `url` is the URL as received, `grant` the token beside the proof, `jkt` the thumbprint the grant confirms.
    """
    public = _proof_key(token, jkt)
    claims = _proof_claims(token, public)
    try:
        htu, query = split_url(url)
        signed_htu, _ = split_url(claims.htu)
    except ValueError as error:
        raise ProofError(ProofProblem.WRONG_URL, "the URL cannot be read") from error
    if claims.htm != method:
        raise ProofError(ProofProblem.WRONG_METHOD, f"signed for {claims.htm[:16]}, used for {method}")
    if signed_htu != htu:
        raise ProofError(ProofProblem.WRONG_URL, "signed for another URL")
    if not hmac.compare_digest(claims.qh, hash_b64url(query)):
        raise ProofError(ProofProblem.WRONG_QUERY, "signed for another query")
    if not hmac.compare_digest(claims.ath, hash_b64url(grant.encode("utf-8"))):
        raise ProofError(ProofProblem.WRONG_GRANT, "signed for another grant")
    if abs(claims.iat - now) > PROOF_WINDOW_SECONDS:
        raise ProofError(
            ProofProblem.OUTSIDE_WINDOW,
            f"signed {now - claims.iat} s ago by our clock; {PROOF_WINDOW_SECONDS} s either way are allowed",
        )
    return Proof(jti=claims.jti, iat=claims.iat, body_hash=claims.bh)


def _proof_key(token: str, jkt: str) -> PublicKey:
    if len(token) > MAX_PROOF_CHARS:
        raise ProofError(ProofProblem.MALFORMED, f"longer than {MAX_PROOF_CHARS} characters")
    try:
        header = jwt.get_unverified_header(token)
    except jwt.InvalidTokenError as error:
        raise ProofError(ProofProblem.MALFORMED, "not a JWT") from error
    if header.get("typ") != PROOF_TYPE or header.get("alg") != "EdDSA":
        raise ProofError(ProofProblem.MALFORMED, f"typ must be {PROOF_TYPE} and alg EdDSA")
    try:
        public = PublicKey.from_jwk(header.get("jwk"))
    except KeyFormatError as error:
        raise ProofError(ProofProblem.MALFORMED, f"header jwk: {error}") from error
    if not hmac.compare_digest(public.thumbprint, jkt):
        raise ProofError(ProofProblem.WRONG_KEY, "signed by another key than the grant confirms")
    return public


def _proof_claims(token: str, public: PublicKey) -> _ProofClaims:
    options: Any = {"verify_exp": False, "verify_iat": False, "verify_nbf": False, "verify_jti": False}
    try:
        return _ProofClaims.model_validate(
            jwt.decode(token, public.crypto, algorithms=["EdDSA"], options=options)
        )
    except jwt.InvalidSignatureError as error:
        raise ProofError(ProofProblem.BAD_SIGNATURE, "the signature does not fit") from error
    except jwt.InvalidTokenError as error:
        raise ProofError(ProofProblem.MALFORMED, "not a JWT") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        path = ".".join(str(part) for part in first["loc"])
        raise ProofError(ProofProblem.MALFORMED, f"claim {path}: {first['msg']}") from error


class ReplayWindow:
    """Remembers each `jti` for REPLAY_MEMORY_SECONDS, at most `capacity` of them.

    A full window refuses rather than forgets: forgetting would let a replay through. Twice the proof window
    is remembered, so a proof dated into the future cannot outlive our memory of it.
    """

    def __init__(self, capacity: int = 100_000) -> None:
        self._capacity = capacity
        self._seen: OrderedDict[str, int] = OrderedDict()

    def __len__(self) -> int:
        return len(self._seen)

    def claim(self, jti: str, *, now: int) -> None:
        """Mark `jti` as used. Raises ProofError (REPLAYED, WINDOW_FULL)."""
        while self._seen and next(iter(self._seen.values())) + REPLAY_MEMORY_SECONDS < now:
            self._seen.popitem(last=False)
        if jti in self._seen:
            raise ProofError(ProofProblem.REPLAYED, "this proof was used before")
        if len(self._seen) >= self._capacity:
            raise ProofError(ProofProblem.WINDOW_FULL, "too many calls within two minutes")
        self._seen[jti] = now
