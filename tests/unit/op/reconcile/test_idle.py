"""Asking sandboxd: every odd answer is "unknown"; the question carries a grant and a proof that hold."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest

from skerry_api.grants import verify_grant
from skerry_api.keys import KeySet, SigningKey
from skerry_api.proofs import EMPTY_BODY_HASH, verify_proof
from skerry_api.sandboxd_api import HEADER_POD_UID
from skerry_operator.plan.actions import ProbeIdle
from skerry_operator.plan.types import IdleAnswer
from skerry_operator.reconcile.idle import HttpIdleProbe
from skerry_operator.reconcile.keyring import CURRENT, KeyRing

NOW = datetime(2026, 1, 1, tzinfo=UTC)
UNIX = int(NOW.timestamp())
QUESTION = ProbeIdle("ns", "sbx-1", "pod-1", "http://198.18.0.9:8090")
BODY = {"idleSeconds": 12.5, "lastUsedBy": "local", "activeExecutions": 0}
OURS = {HEADER_POD_UID: "pod-1"}


def ring(directory: Path) -> KeyRing:
    (directory / CURRENT).write_text(SigningKey.generate().to_pem(), encoding="ascii")
    return KeyRing(directory, lambda: "i" * 20)


async def ask(keys: KeyRing, answer: Callable[[httpx.Request], httpx.Response]) -> IdleAnswer:
    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        return await HttpIdleProbe(client, keys, lambda: "j" * 20).ask(QUESTION, NOW)


async def test_the_question_is_signed_and_the_answer_taken(tmp_path: Path) -> None:
    keys, asked = ring(tmp_path), []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(200, json=BODY, headers=OURS)

    assert await ask(keys, answer) == IdleAnswer("pod-1", NOW, 12.5)
    (request,) = asked
    scheme, _, token = request.headers["Authorization"].partition(" ")
    grant = verify_grant(token, KeySet.from_jwks(keys.jwks), now=UNIX)
    proof = verify_proof(
        request.headers["DPoP"], method="GET", url=str(request.url), grant=token, jkt=grant.cnf.jkt, now=UNIX
    )
    assert (scheme, grant.pod_uid, proof.body_hash) == ("DPoP", "pod-1", EMPTY_BODY_HASH)


def refuse(_request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectTimeout("no")


@pytest.mark.parametrize(
    "answer",
    [
        refuse,
        lambda _: httpx.Response(503, headers=OURS),
        lambda _: httpx.Response(409, json={"reason": "WrongPod"}, headers={HEADER_POD_UID: "other"}),
        lambda _: httpx.Response(200, json=BODY, headers={HEADER_POD_UID: "other"}),
        lambda _: httpx.Response(200, json=BODY),
        lambda _: httpx.Response(200, json={"idle": 1}, headers=OURS),
        lambda _: httpx.Response(200, text="idle", headers=OURS),
        lambda _: httpx.Response(302, headers=OURS | {"Location": "http://elsewhere/"}),
    ],
)
async def test_all_else_is_unknown(answer: Callable[[httpx.Request], httpx.Response], tmp_path: Path) -> None:
    assert await ask(ring(tmp_path), answer) == IdleAnswer("pod-1", NOW, None)
