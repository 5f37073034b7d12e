"""Whether the grant in the status is still the one that is wanted. Claims are read, not verified: it is ours."""

from __future__ import annotations

import json
from typing import Any

from skerry_api.keys import KeyFormatError, PublicKey, b64url_decode
from skerry_operator.plan.types import GrantRequest

__all__ = ["fits", "usable_key"]


def usable_key(text: str) -> bool:
    """Whether the runner's text is an Ed25519 key at all; it is untrusted input."""
    try:
        PublicKey.from_text(text)
    except (KeyFormatError, ValueError):
        return False
    return True


def fits(token: str | None, wanted: GrantRequest) -> bool:
    claims = _claims(token) if token else None
    if claims is None:
        return False
    return (
        claims.get("podUID") == wanted.pod_uid
        and claims.get("sandboxId") == wanted.sandbox_id
        and claims.get("epoch") == wanted.epoch
        and claims.get("exp") == int(wanted.expires.timestamp())
        and (claims.get("run") or {}).get("uid") == wanted.run_uid
        and (claims.get("cnf") or {}).get("jkt") == PublicKey.from_text(wanted.public_key).thumbprint
    )


def _claims(token: str) -> dict[str, Any] | None:
    try:
        claims = json.loads(b64url_decode(token.split(".")[1]))
    except (IndexError, ValueError):
        return None
    return claims if isinstance(claims, dict) else None
