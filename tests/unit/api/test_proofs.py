"""Proofs: RFC 9449's checks, and ours of query and body."""

from __future__ import annotations

import hashlib
from typing import Any

import jwt
import pytest

from skerry_api.keys import SigningKey
from skerry_api.proofs import (
    EMPTY_BODY_HASH,
    Proof,
    ProofError,
    ProofProblem,
    ReplayWindow,
    hash_b64url,
    make_proof,
    split_url,
    verify_proof,
)

NOW = 1_800_000_000
KEY = SigningKey.generate()
URL = "http://10.0.0.7:8477/v1/files?path=%2Fmnt%2Fa"
GRANT = "header.claims.signature"
JTI = "j" * 22


def signed(key: SigningKey = KEY, **changes: Any) -> str:
    fields: dict[str, Any] = {
        "method": "PUT", "url": URL, "grant": GRANT, "body_hash": hash_b64url(b"body"), "now": NOW, "jti": JTI,
    }  # fmt: skip
    return make_proof(key, **(fields | changes))


def check(token: str, **changes: Any) -> Proof:
    fields: dict[str, Any] = {
        "method": "PUT", "url": URL, "grant": GRANT, "jkt": KEY.public.thumbprint, "now": NOW,
    }  # fmt: skip
    return verify_proof(token, **(fields | changes))


def test_round_trip() -> None:
    proof = check(signed())
    assert (proof.jti, proof.iat) == (JTI, NOW)
    proof.check_body(hashlib.sha256(b"body").digest())
    with pytest.raises(ProofError) as caught:
        proof.check_body(hashlib.sha256(b"other").digest())
    assert caught.value.problem is ProofProblem.WRONG_BODY


def test_header_and_claims_are_those_of_the_rfc() -> None:
    header = jwt.get_unverified_header(signed())
    assert (header["typ"], header["alg"], header["jwk"]) == ("dpop+jwt", "EdDSA", KEY.public.jwk)
    claims = jwt.decode(signed(), options={"verify_signature": False})
    assert claims["htu"] == "http://10.0.0.7:8477/v1/files"
    assert claims["ath"] == hash_b64url(GRANT.encode())
    assert set(claims) == {"htm", "htu", "iat", "jti", "ath", "bh", "qh"}


def test_hash_of_nothing() -> None:
    assert hash_b64url(b"") == EMPTY_BODY_HASH == "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"


@pytest.mark.parametrize("now", [NOW - 60, NOW + 60])
def test_both_ends_of_the_window(now: int) -> None:
    check(signed(), now=now)


@pytest.mark.parametrize("url", ["HTTP://10.0.0.7:8477/v1/files?path=%2Fmnt%2Fa", URL + "#fragment"])
def test_equal_urls(url: str) -> None:
    check(signed(url=url))


REFUSED: dict[str, tuple[str, dict[str, Any], ProofProblem]] = {
    "empty": ("", {}, ProofProblem.MALFORMED),
    "endless": ("x" * 5000, {}, ProofProblem.MALFORMED),
    "method": (signed(), {"method": "GET"}, ProofProblem.WRONG_METHOD),
    "path": (signed(), {"url": URL.replace("files", "idle")}, ProofProblem.WRONG_URL),
    "host": (signed(), {"url": URL.replace("10.0.0.7", "10.0.0.8")}, ProofProblem.WRONG_URL),
    "port": (signed(), {"url": URL.replace("8477", "8478")}, ProofProblem.WRONG_URL),
    "scheme": (signed(), {"url": URL.replace("http:", "https:")}, ProofProblem.WRONG_URL),
    "no url": (signed(), {"url": "nonsense"}, ProofProblem.WRONG_URL),
    "query": (signed(), {"url": URL.replace("mnt", "etc")}, ProofProblem.WRONG_QUERY),
    "grant": (signed(), {"grant": "other"}, ProofProblem.WRONG_GRANT),
    "grant of odd characters": (signed(), {"grant": "\u00fc"}, ProofProblem.WRONG_GRANT),
    "old": (signed(), {"now": NOW + 61}, ProofProblem.OUTSIDE_WINDOW),
    "future": (signed(), {"now": NOW - 61}, ProofProblem.OUTSIDE_WINDOW),
    "other key": (signed(SigningKey.generate()), {}, ProofProblem.WRONG_KEY),
    "short jti": (signed(jti="x"), {}, ProofProblem.MALFORMED),
    "typ": (
        jwt.encode({}, KEY.crypto, algorithm="EdDSA", headers={"jwk": KEY.public.jwk}),
        {}, ProofProblem.MALFORMED,
    ),
    "shared secret": (
        jwt.encode({}, "k" * 64, algorithm="HS256", headers={"typ": "dpop+jwt", "jwk": KEY.public.jwk}),
        {}, ProofProblem.MALFORMED,
    ),
    "claims": (
        jwt.encode({}, KEY.crypto, algorithm="EdDSA", headers={"typ": "dpop+jwt", "jwk": KEY.public.jwk}),
        {}, ProofProblem.MALFORMED,
    ),
    "another's signature under our key": (
        jwt.encode(
            jwt.decode(signed(), options={"verify_signature": False}),
            SigningKey.generate().crypto, algorithm="EdDSA", headers={"typ": "dpop+jwt", "jwk": KEY.public.jwk},
        ),
        {}, ProofProblem.BAD_SIGNATURE,
    ),
}  # fmt: skip


@pytest.mark.parametrize(("token", "changes", "problem"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(token: str, changes: dict[str, Any], problem: ProofProblem) -> None:
    with pytest.raises(ProofError) as caught:
        check(token, **changes)
    assert caught.value.problem is problem


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("http://A.b/x", "http://a.b:80/x"),
        ("https://a.b", "https://a.b:443/"),
        ("http://[::1]:8477/v1?x=1", "http://[::1]:8477/v1"),
    ],
)
def test_split_url(url: str, normal: str) -> None:
    assert split_url(url)[0] == normal


class TestReplayWindow:
    def test_a_second_use_is_refused_for_two_minutes(self) -> None:
        window = ReplayWindow()
        window.claim("a", now=NOW)
        for now in (NOW, NOW + 60, NOW + 120):
            with pytest.raises(ProofError) as caught:
                window.claim("a", now=now)
            assert caught.value.problem is ProofProblem.REPLAYED

    def test_it_forgets_after_that(self) -> None:
        window = ReplayWindow()
        window.claim("a", now=NOW)
        window.claim("b", now=NOW + 121)
        assert len(window) == 1

    def test_a_full_one_refuses_and_does_not_forget(self) -> None:
        window = ReplayWindow(capacity=2)
        window.claim("a", now=NOW)
        window.claim("b", now=NOW)
        with pytest.raises(ProofError) as caught:
            window.claim("c", now=NOW)
        assert caught.value.problem is ProofProblem.WINDOW_FULL
        with pytest.raises(ProofError) as caught:
            window.claim("a", now=NOW)
        assert caught.value.problem is ProofProblem.REPLAYED
        window.claim("c", now=NOW + 121)
