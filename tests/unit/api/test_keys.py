"""Keys: their forms, and what is refused."""

from __future__ import annotations

import json

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from skerry_api.keys import KeyFormatError, KeySet, PublicKey, SigningKey, b64url, b64url_decode

# RFC 8037, appendix A: the key and its thumbprint.
RFC_X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
RFC_THUMBPRINT = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def test_thumbprint_is_the_one_of_the_rfc() -> None:
    key = PublicKey.from_jwk({"kty": "OKP", "crv": "Ed25519", "x": RFC_X})
    assert key.thumbprint == RFC_THUMBPRINT
    assert PublicKey.from_text(RFC_X) == key
    assert key.text == RFC_X


def test_pem_round_trip() -> None:
    key = SigningKey.generate()
    again = SigningKey.from_pem(key.to_pem())
    assert again.public == key.public
    assert again.to_pem() == key.to_pem()


def test_repr_keeps_the_secret() -> None:
    key = SigningKey.generate()
    assert "PRIVATE" not in repr(key)
    assert "0x" not in repr(key)


def test_key_set_round_trip_and_lookup() -> None:
    current, following = SigningKey.generate().public, SigningKey.generate().public
    keys = KeySet.from_jwks(KeySet.of([current, following]).to_jwks())
    assert keys.keys == (current, following)
    assert keys.get(following.thumbprint) == following
    assert keys.get("x") is None


@pytest.mark.parametrize(
    ("jwk", "problem"),
    [
        (None, "object"),
        ({}, "OKP"),
        ({"kty": "RSA", "crv": "Ed25519", "x": RFC_X}, "OKP"),
        ({"kty": "OKP", "crv": "X25519", "x": RFC_X}, "Ed25519"),
        ({"kty": "OKP", "crv": "Ed25519"}, "no x"),
        ({"kty": "OKP", "crv": "Ed25519", "x": 5}, "no x"),
        ({"kty": "OKP", "crv": "Ed25519", "x": "a+b"}, "base64url"),
        ({"kty": "OKP", "crv": "Ed25519", "x": "YWJj"}, "32 bytes"),
        ({"kty": "OKP", "crv": "Ed25519", "x": RFC_X, "d": RFC_X}, "private"),
    ],
)
def test_bad_jwk(jwk: object, problem: str) -> None:
    with pytest.raises(KeyFormatError, match=problem):
        PublicKey.from_jwk(jwk)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not JSON"),
        ("[]", "at least one"),
        ('{"keys": []}', "at least one"),
        (json.dumps({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": RFC_X}, {}]}), r"keys\[1\]"),
    ],
)
def test_bad_key_set(text: str, problem: str) -> None:
    with pytest.raises(KeyFormatError, match=problem):
        KeySet.from_jwks(text)


def test_other_private_keys_are_refused() -> None:
    pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with pytest.raises(KeyFormatError, match="not Ed25519"):
        SigningKey.from_pem(pem)
    with pytest.raises(KeyFormatError, match="PKCS#8"):
        SigningKey.from_pem("nonsense")


@pytest.mark.parametrize("data", [b"", b"a", b"ab", b"\xff\xfe\xfd\xfc"])
def test_base64url(data: bytes) -> None:
    assert "=" not in b64url(data)
    assert b64url_decode(b64url(data)) == data
