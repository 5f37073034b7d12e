"""Asks sandboxd how long nobody used it. Whatever goes wrong is "could not be asked", never "idle" or "dead"."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Protocol

import httpx
import structlog
from pydantic import ValidationError

from skerry_api.proofs import EMPTY_BODY_HASH, make_proof
from skerry_api.sandboxd_api import HEADER_POD_UID, Idle
from skerry_operator.plan.actions import ProbeIdle
from skerry_operator.plan.types import IdleAnswer
from skerry_operator.reconcile.keyring import KeyRing

__all__ = ["HttpIdleProbe", "IdleProbe"]

_log = structlog.get_logger(__name__)


class IdleProbe(Protocol):
    async def ask(self, question: ProbeIdle, now: datetime) -> IdleAnswer:
        """Never raises for what the sandbox does or does not say."""
        ...


class HttpIdleProbe:
    """Over HTTP with a grant of the operator's own and a proof, as every caller of sandboxd."""

    def __init__(self, client: httpx.AsyncClient, keys: KeyRing, new_id: Callable[[], str]) -> None:
        """`client` carries the timeout and must not follow proxies of the environment."""
        self._client = client
        self._keys = keys
        self._new_id = new_id

    async def ask(self, question: ProbeIdle, now: datetime) -> IdleAnswer:
        unknown = IdleAnswer(question.pod_uid, now, None)
        url = f"{question.endpoint}/v1/idle"
        grant, key = self._keys.own_grant(question.namespace, question.sandbox, question.pod_uid, now)
        proof = make_proof(
            key,
            method="GET",
            url=url,
            grant=grant,
            body_hash=EMPTY_BODY_HASH,
            now=int(now.timestamp()),
            jti=self._new_id(),
        )
        try:
            answer = await self._client.get(url, headers={"Authorization": f"DPoP {grant}", "DPoP": proof})
            answer.raise_for_status()
            if answer.headers.get(HEADER_POD_UID) != question.pod_uid:
                return unknown
            return IdleAnswer(question.pod_uid, now, Idle.model_validate(answer.json()).idle_seconds)
        except (httpx.HTTPError, ValidationError, ValueError) as error:
            _log.info("sandboxd did not say whether it is idle", sandbox=question.sandbox, error=str(error))
            return unknown
