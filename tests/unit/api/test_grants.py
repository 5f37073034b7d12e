"""Grants: what verifies, and every way in which one does not."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jwt
import pytest

from skerry_api.grants import (
    Confirmation,
    Grant,
    GrantError,
    GrantProblem,
    GrantRole,
    RunRef,
    issue_grant,
    verify_grant,
)
from skerry_api.keys import KeySet, SigningKey

NOW = 1_800_000_000
OPERATOR = SigningKey.generate()
FOLLOWING = SigningKey.generate()
STRANGER = SigningKey.generate()
KEYS = KeySet.of([OPERATOR.public, FOLLOWING.public])
JKT = SigningKey.generate().public.thumbprint


def grant(**changes: Any) -> Grant:
    fields: dict[str, Any] = {
        "namespace": "team-a", "sandbox_id": "sbx-1", "pod_uid": "pod-1",
        "run": RunRef(uid="run-uid", name="run"), "epoch": 3, "cnf": Confirmation(jkt=JKT),
        "iat": NOW, "exp": NOW + 300, "jti": "j1",
    }  # fmt: skip
    return Grant(**(fields | changes))


def encode(claims: dict[str, Any], key: SigningKey = OPERATOR, **header: Any) -> str:
    headers = {"kid": key.public.thumbprint} | header
    return jwt.encode(claims, key.crypto, algorithm="EdDSA", headers=headers)


def claims(**changes: Any) -> dict[str, Any]:
    return grant().model_dump(mode="json", by_alias=True) | changes


@pytest.mark.parametrize("key", [OPERATOR, FOLLOWING])
def test_round_trip_with_the_current_key_and_the_next(key: SigningKey) -> None:
    assert verify_grant(issue_grant(grant(), key), KEYS, now=NOW) == grant()


def test_claims_have_their_documented_names() -> None:
    decoded = jwt.decode(issue_grant(grant(), OPERATOR), options={"verify_signature": False})
    assert decoded == {
        "iss": "skerry-operator", "aud": "sandboxd", "role": "runner", "namespace": "team-a", "sandboxId": "sbx-1",
        "podUID": "pod-1", "run": {"uid": "run-uid", "name": "run"}, "epoch": 3, "cnf": {"jkt": JKT},
        "iat": NOW, "exp": NOW + 300, "jti": "j1",
    }  # fmt: skip


def test_it_fits_into_status() -> None:
    longest = grant(
        namespace="n" * 63, sandbox_id="s" * 63, pod_uid="p" * 36, run=RunRef(uid="r" * 36, name="x" * 63)
    )
    assert len(issue_grant(longest, OPERATOR)) < 1024


def test_the_operators_own_needs_no_run() -> None:
    mine = grant(role=GrantRole.OPERATOR, run=None, epoch=0)
    assert verify_grant(issue_grant(mine, OPERATOR), KEYS, now=NOW).role is GrantRole.OPERATOR


def test_a_runners_must_name_its_run() -> None:
    with pytest.raises(ValueError, match="names its run"):
        issue_grant(grant(run=None), OPERATOR)


@pytest.mark.parametrize("now", [NOW - 60, NOW, NOW + 299])
def test_valid_times(now: int) -> None:
    verify_grant(issue_grant(grant(), OPERATOR), KEYS, now=now)


def test_unknown_claims_are_ignored() -> None:
    assert verify_grant(encode(claims(more={"x": 1})), KEYS, now=NOW) == grant()


def tampered() -> str:
    head, _, signature = issue_grant(grant(), OPERATOR).split(".")
    _, body, _ = issue_grant(grant(sandbox_id="sbx-2"), OPERATOR).split(".")
    return f"{head}.{body}.{signature}"


@dataclasses.dataclass(frozen=True)
class Case:
    token: Callable[[], str]
    problem: GrantProblem
    now: int = NOW


CASES = {
    "empty": Case(lambda: "", GrantProblem.MALFORMED),
    "no jwt": Case(lambda: "a.b.c", GrantProblem.MALFORMED),
    "endless": Case(lambda: "a" * 5000, GrantProblem.MALFORMED),
    "no algorithm": Case(lambda: jwt.encode(claims(), "", algorithm="none"), GrantProblem.MALFORMED),
    "shared secret": Case(lambda: jwt.encode(claims(), "k" * 64, algorithm="HS256"), GrantProblem.MALFORMED),
    "other key": Case(lambda: issue_grant(grant(), STRANGER), GrantProblem.UNKNOWN_KEY),
    "no kid": Case(
        lambda: jwt.encode(claims(), OPERATOR.crypto, algorithm="EdDSA"), GrantProblem.UNKNOWN_KEY
    ),
    "other key under our kid": Case(
        lambda: encode(claims(), STRANGER, kid=OPERATOR.public.thumbprint), GrantProblem.BAD_SIGNATURE
    ),
    "tampered": Case(tampered, GrantProblem.BAD_SIGNATURE),
    "issuer": Case(lambda: encode(claims(iss="somebody")), GrantProblem.WRONG_ISSUER),
    "audience": Case(lambda: encode(claims(aud="api")), GrantProblem.WRONG_AUDIENCE),
    "audience list": Case(lambda: encode(claims(aud=["sandboxd", "api"])), GrantProblem.WRONG_AUDIENCE),
    "no pod": Case(
        lambda: encode({k: v for k, v in claims().items() if k != "podUID"}), GrantProblem.MALFORMED
    ),
    "no cnf": Case(lambda: encode({k: v for k, v in claims().items() if k != "cnf"}), GrantProblem.MALFORMED),
    "no run": Case(lambda: encode(claims(run=None)), GrantProblem.MALFORMED),
    "negative epoch": Case(lambda: encode(claims(epoch=-1)), GrantProblem.MALFORMED),
    "unknown role": Case(lambda: encode(claims(role="root")), GrantProblem.MALFORMED),
    "expired": Case(lambda: issue_grant(grant(), OPERATOR), GrantProblem.EXPIRED, now=NOW + 300),
    "from the future": Case(lambda: issue_grant(grant(), OPERATOR), GrantProblem.NOT_YET_VALID, now=NOW - 61),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_refused(case: Case) -> None:
    with pytest.raises(GrantError) as caught:
        verify_grant(case.token(), KEYS, now=case.now)
    assert caught.value.problem is case.problem


def test_a_malformed_claim_is_named() -> None:
    with pytest.raises(GrantError, match=r"claim cnf\.jkt"):
        verify_grant(encode(claims(cnf={"jkt": "short"})), KEYS, now=NOW)
