"""Ed25519 keys as JSON Web Keys: what the operator signs grants with and the runner signs proofs with.

Keys travel as JWK (RFC 8037), are named by their RFC 7638 thumbprint, and private halves stand on disk
as PKCS#8 PEM. Only Ed25519 is known here; any other key type is refused rather than negotiated.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

__all__ = ["KeyFormatError", "KeySet", "PublicKey", "SigningKey", "b64url", "b64url_decode"]


class KeyFormatError(ValueError):
    """A text is not the Ed25519 key (or key set) it should be. The message never holds key material."""


def b64url(data: bytes) -> str:
    """Base64url without padding, as JOSE writes it."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def b64url_decode(text: str) -> bytes:
    """Inverse of `b64url`. Raises ValueError on anything outside the alphabet."""
    if set(text) & set("+/="):
        raise ValueError("not base64url without padding")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError("not base64url") from error


@dataclass(frozen=True, slots=False)
class PublicKey:
    """The public half: 32 raw bytes."""

    raw: bytes

    def __post_init__(self) -> None:
        if len(self.raw) != 32:
            raise KeyFormatError(f"an Ed25519 public key has 32 bytes, got {len(self.raw)}")

    @classmethod
    def from_jwk(cls, jwk: object) -> "PublicKey":
        """Read {"kty": "OKP", "crv": "Ed25519", "x": …}. Raises KeyFormatError, also when a private part is there."""
        if not isinstance(jwk, Mapping):
            raise KeyFormatError("a JWK is a JSON object")
        if jwk.get("kty") != "OKP" or jwk.get("crv") != "Ed25519":
            raise KeyFormatError("only kty OKP with crv Ed25519 is accepted")
        if "d" in jwk:
            raise KeyFormatError("this JWK holds a private key; only public keys may travel")
        x = jwk.get("x")
        if not isinstance(x, str):
            raise KeyFormatError("the JWK has no x")
        try:
            raw = b64url_decode(x)
        except ValueError as error:
            raise KeyFormatError("the JWK's x is not base64url") from error
        return cls(raw)

    @classmethod
    def from_text(cls, text: str) -> "PublicKey":
        """Read the 43 characters of `text`, as `status.runner.sandboxRequest.publicKey` has them. Raises KeyFormatError."""
        try:
            return cls(b64url_decode(text))
        except KeyFormatError:
            raise
        except ValueError as error:
            raise KeyFormatError("the public key is not base64url") from error

    @property
    def text(self) -> str:
        """The raw key in base64url."""
        return b64url(self.raw)

    @property
    def jwk(self) -> dict[str, str]:
        return {"kty": "OKP", "crv": "Ed25519", "x": b64url(self.raw)}

    @cached_property
    def thumbprint(self) -> str:
        """RFC 7638 SHA-256 thumbprint, base64url; used as `kid` and as a grant's `cnf.jkt`."""
        canonical = json.dumps(self.jwk, sort_keys=True, separators=(",", ":"))
        return b64url(hashlib.sha256(canonical.encode("ascii")).digest())

    @cached_property
    def crypto(self) -> Ed25519PublicKey:
        return Ed25519PublicKey.from_public_bytes(self.raw)


@dataclass(frozen=True, slots=False)
class SigningKey:
    """A private key. Its repr shows the thumbprint only."""

    crypto: Ed25519PrivateKey = field(repr=False)

    @classmethod
    def generate(cls) -> "SigningKey":
        return cls(Ed25519PrivateKey.generate())

    @classmethod
    def from_pem(cls, pem: str | bytes) -> "SigningKey":
        """Read an unencrypted PKCS#8 PEM (what `openssl genpkey -algorithm ed25519` writes). Raises KeyFormatError."""
        data = pem.encode("ascii", errors="replace") if isinstance(pem, str) else pem
        try:
            key = serialization.load_pem_private_key(data, password=None)
        except (ValueError, TypeError) as error:
            raise KeyFormatError("not an unencrypted PKCS#8 PEM private key") from error
        if not isinstance(key, Ed25519PrivateKey):
            raise KeyFormatError("the private key is not Ed25519")
        return cls(key)

    def to_pem(self) -> str:
        return self.crypto.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ).decode("ascii")

    @cached_property
    def public(self) -> PublicKey:
        return PublicKey(
            self.crypto.public_key().public_bytes(serialization.Encoding.Raw, serialization.PublicFormat.Raw)
        )


@dataclass(frozen=True)
class KeySet:
    """The public keys that may have signed a grant: the operator's current one and the next."""

    keys: tuple[PublicKey, ...]

    @classmethod
    def of(cls, keys: Iterable[PublicKey]) -> "KeySet":
        return cls(tuple(keys))

    @classmethod
    def from_jwks(cls, text: str) -> "KeySet":
        """Read {"keys": [JWK, …]}. Raises KeyFormatError naming the index of a bad key; an empty set is refused."""
        try:
            document: Any = json.loads(text)
        except ValueError as error:
            raise KeyFormatError(f"not JSON: {error}") from error
        entries = document.get("keys") if isinstance(document, dict) else None
        if not isinstance(entries, list) or not entries:
            raise KeyFormatError('a key set is {"keys": [...]} with at least one key')
        keys = []
        for index, entry in enumerate(entries):
            try:
                keys.append(PublicKey.from_jwk(entry))
            except KeyFormatError as error:
                raise KeyFormatError(f"keys[{index}]: {error}") from error
        return cls(tuple(keys))

    def to_jwks(self) -> str:
        entries = [{**key.jwk, "kid": key.thumbprint, "use": "sig", "alg": "EdDSA"} for key in self.keys]
        return json.dumps({"keys": entries}, separators=(",", ":"))

    def get(self, kid: str) -> PublicKey | None:
        """The key with this thumbprint, or None."""
        return next((key for key in self.keys if key.thumbprint == kid), None)
