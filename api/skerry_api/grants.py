"""Grants: the operator's signed word that one key may call one sandbox Pod until a moment.

A grant is a JWT (EdDSA). It names the Pod (`podUID`), the sandbox, the run and epoch, and the thumbprint
of the only key that can use it (`cnf.jkt`, RFC 7800), so it may stand in a status that others read.
Nothing here reads a clock: `now` is always an argument, in whole seconds since the Unix epoch.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Literal

import jwt
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from skerry_api.keys import KeySet, PublicKey, SigningKey

__all__ = [
    "AUDIENCE",
    "CLOCK_SKEW_SECONDS",
    "ISSUER",
    "Confirmation",
    "Grant",
    "GrantError",
    "GrantProblem",
    "GrantRole",
    "RunRef",
    "issue_grant",
    "verify_grant",
]

ISSUER: Final = "skerry-operator"
AUDIENCE: Final = "sandboxd"
CLOCK_SKEW_SECONDS: Final = 60
MAX_TOKEN_CHARS: Final = 4096


class GrantRole(StrEnum):
    """Who holds the key: the runner of a run, or the operator itself."""

    RUNNER = "runner"
    OPERATOR = "operator"


class GrantProblem(StrEnum):
    """Why a grant is refused."""

    MALFORMED = "Malformed"
    UNKNOWN_KEY = "UnknownKey"
    BAD_SIGNATURE = "BadSignature"
    WRONG_ISSUER = "WrongIssuer"
    WRONG_AUDIENCE = "WrongAudience"
    EXPIRED = "Expired"
    NOT_YET_VALID = "NotYetValid"


class GrantError(Exception):
    """A grant that must not be honoured. `problem` is stable, the message is for people."""

    def __init__(self, problem: GrantProblem, message: str) -> None:
        super().__init__(message)
        self.problem: Final = problem


class _Claims(BaseModel):
    # Claims we do not know are ignored: a newer operator may add some.
    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True, extra="ignore")


class RunRef(_Claims):
    """The AgentRun a grant was given for."""

    uid: str = Field(min_length=1, max_length=128)
    name: str = Field(min_length=1, max_length=253)


class Confirmation(_Claims):
    """RFC 7800 confirmation: the RFC 7638 thumbprint of the key that must sign the proofs."""

    jkt: str = Field(min_length=43, max_length=43)


class Grant(_Claims):
    """The claims. `iat` and `exp` are seconds since the Unix epoch; `run` is None only for the operator's own."""

    iss: Literal["skerry-operator"] = ISSUER
    aud: Literal["sandboxd"] = AUDIENCE
    role: GrantRole = GrantRole.RUNNER
    namespace: str = Field(min_length=1, max_length=253)
    sandbox_id: str = Field(min_length=1, max_length=253)
    pod_uid: str = Field(alias="podUID", min_length=1, max_length=128)
    run: RunRef | None = None
    epoch: int = Field(ge=0, lt=2**31)
    cnf: Confirmation
    iat: int
    exp: int
    jti: str = Field(min_length=1, max_length=128)


def issue_grant(grant: Grant, key: SigningKey) -> str:
    """Sign `grant`; the header's `kid` is the key's thumbprint. Raises ValueError for a runner's grant without run."""
    if grant.role is GrantRole.RUNNER and grant.run is None:
        raise ValueError("a runner's grant names its run")
    claims = grant.model_dump(mode="json", by_alias=True, exclude_none=True)
    return jwt.encode(claims, key.crypto, algorithm="EdDSA", headers={"kid": key.public.thumbprint})


def verify_grant(token: str, keys: KeySet, *, now: int) -> Grant:
    """Check signature, issuer, audience, shape and time. Raises GrantError; whom the grant is for is the caller's check."""
    public = _signer(token, keys)
    claims = _decode(token, public)
    try:
        grant = Grant.model_validate(claims)
    except ValidationError as error:
        raise _shape_error(error, claims) from error
    if grant.role is GrantRole.RUNNER and grant.run is None:
        raise GrantError(GrantProblem.MALFORMED, "claim run is missing")
    if grant.iat > now + CLOCK_SKEW_SECONDS:
        raise GrantError(GrantProblem.NOT_YET_VALID, f"issued {grant.iat - now} s in the future")
    if grant.exp <= now:
        raise GrantError(GrantProblem.EXPIRED, f"expired {now - grant.exp} s ago")
    return grant


def _signer(token: str, keys: KeySet) -> PublicKey:
    if len(token) > MAX_TOKEN_CHARS:
        raise GrantError(GrantProblem.MALFORMED, f"longer than {MAX_TOKEN_CHARS} characters")
    try:
        header: Mapping[str, Any] = jwt.get_unverified_header(token)
    except jwt.InvalidTokenError as error:
        raise GrantError(GrantProblem.MALFORMED, "not a JWT") from error
    if header.get("alg") != "EdDSA":
        raise GrantError(GrantProblem.MALFORMED, "the algorithm must be EdDSA")
    public = keys.get(str(header.get("kid")))
    if public is None:
        raise GrantError(GrantProblem.UNKNOWN_KEY, "signed by a key that is not the operator's")
    return public


def _decode(token: str, public: PublicKey) -> dict[str, Any]:
    # The library would read its own clock and judge aud and iss in its own words; we do these in verify_grant.
    options: Any = {
        "verify_exp": False, "verify_iat": False, "verify_nbf": False, "verify_aud": False,
        "verify_iss": False, "verify_sub": False, "verify_jti": False,
    }  # fmt: skip
    try:
        return jwt.decode(token, public.crypto, algorithms=["EdDSA"], options=options)
    except jwt.InvalidSignatureError as error:
        raise GrantError(GrantProblem.BAD_SIGNATURE, "the signature does not fit") from error
    except jwt.InvalidTokenError as error:
        raise GrantError(GrantProblem.MALFORMED, "not a JWT") from error


def _shape_error(error: ValidationError, claims: Mapping[str, Any]) -> GrantError:
    if claims.get("iss") != ISSUER:
        return GrantError(GrantProblem.WRONG_ISSUER, "not issued by the operator")
    if claims.get("aud") != AUDIENCE:
        return GrantError(GrantProblem.WRONG_AUDIENCE, "not meant for sandboxd")
    first = error.errors(include_url=False, include_input=False)[0]
    path = ".".join(str(part) for part in first["loc"])
    return GrantError(GrantProblem.MALFORMED, f"claim {path}: {first['msg']}")
