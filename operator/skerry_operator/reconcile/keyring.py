"""The operator's signing keys: read from a mounted Secret, used to mint grants for runners and for itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from skerry_api.grants import Confirmation, Grant, GrantRole, RunRef, issue_grant
from skerry_api.keys import KeyFormatError, KeySet, PublicKey, SigningKey
from skerry_operator.errors import ConfigError
from skerry_operator.plan.types import GrantRequest

__all__ = ["CURRENT", "NEXT", "GrantMinter", "KeyRing"]

CURRENT = "current.pem"
NEXT = "next.pem"
_OWN_LIFE = timedelta(minutes=2)


class GrantMinter(Protocol):
    def mint(self, request: GrantRequest, now: datetime) -> str:
        """The signed grant; raises ValueError when the runner's public key is none."""
        ...


class KeyRing:
    """`current.pem` signs; sandboxes accept it and `next.pem`, so that keys can be changed without a gap.

    `new_id` gives unguessable ids of 16 to 64 characters.
    """

    def __init__(self, directory: Path, new_id: Callable[[], str]) -> None:
        self._directory = directory
        self._new_id = new_id
        self._current, self._next = self._read()

    def reload(self) -> None:
        """Read the files again (the kubelet updates them in place); raises ConfigError and keeps the old keys."""
        self._current, self._next = self._read()

    @property
    def jwks(self) -> str:
        """Public halves, current first, as the JWKS that sandbox Pods are given."""
        keys = [key.public for key in (self._current, self._next) if key is not None]
        return KeySet.of(keys).to_jwks()

    def mint(self, request: GrantRequest, now: datetime) -> str:
        thumbprint = PublicKey.from_text(request.public_key).thumbprint
        grant = Grant(
            role=GrantRole.RUNNER,
            namespace=request.namespace,
            sandbox_id=request.sandbox_id,
            pod_uid=request.pod_uid,
            run=RunRef(uid=request.run_uid, name=request.run_name),
            epoch=request.epoch,
            cnf=Confirmation(jkt=thumbprint),
            iat=int(now.timestamp()),
            exp=int(request.expires.timestamp()),
            jti=self._new_id(),
        )
        return issue_grant(grant, self._current)

    def own_grant(self, namespace: str, sandbox: str, pod_uid: str, now: datetime) -> tuple[str, SigningKey]:
        """A short grant for the operator's own call, and the key that its proofs are signed with."""
        grant = Grant(
            role=GrantRole.OPERATOR,
            namespace=namespace,
            sandbox_id=sandbox,
            pod_uid=pod_uid,
            epoch=0,
            cnf=Confirmation(jkt=self._current.public.thumbprint),
            iat=int(now.timestamp()),
            exp=int((now + _OWN_LIFE).timestamp()),
            jti=self._new_id(),
        )
        return issue_grant(grant, self._current), self._current

    def _read(self) -> tuple[SigningKey, SigningKey | None]:
        current = self._key(CURRENT)
        if current is None:
            raise ConfigError("keysDirectory", f"{self._directory / CURRENT} is missing")
        return current, self._key(NEXT)

    def _key(self, name: str) -> SigningKey | None:
        path = self._directory / name
        try:
            return SigningKey.from_pem(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, KeyFormatError) as error:
            raise ConfigError("keysDirectory", f"{path}: {error}") from error
