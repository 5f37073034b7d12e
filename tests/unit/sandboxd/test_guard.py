"""The door: who gets in over TCP, and in which words the others are refused. Against a real sandboxd."""

from __future__ import annotations

import hashlib
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from skerry_api.grants import Confirmation, RunRef, issue_grant
from skerry_api.keys import SigningKey
from skerry_api.proofs import hash_b64url
from skerry_testing.sandboxd import Identity, Sandboxd, Signer, grant_for, running_sandboxd

STRANGER = SigningKey.generate()


async def get_idle(tcp: httpx.AsyncClient, headers: dict[str, str]) -> tuple[int, str]:
    response = await tcp.get("/v1/idle", headers=headers)
    return response.status_code, response.json().get("reason", "")


async def test_a_good_request(sandboxd: Sandboxd, tcp: httpx.AsyncClient) -> None:
    response = await tcp.get("/v1/idle", headers=sandboxd.signer().headers("GET", "/v1/idle"))
    assert response.status_code == 200
    assert response.json()["lastUsedBy"] == "runner"


async def test_health_is_open_and_nothing_else(sandboxd: Sandboxd, tcp: httpx.AsyncClient) -> None:
    response = await tcp.get("/health")
    assert (response.status_code, response.json()["podUID"]) == (200, "pod-uid-1")
    for method, path in [
        ("GET", "/v1/idle"), ("POST", "/health"), ("GET", "/health/"), ("GET", "//health"), ("GET", "/"),
        ("POST", "/v1/executions"), ("GET", "/v1/executions/a"), ("DELETE", "/v1/executions/a"),
        ("POST", "/v1/processes"), ("GET", "/v1/files?path=/"), ("PUT", "/v1/files?path=/"), ("GET", "/nothing"),
    ]:  # fmt: skip
        refused = await tcp.request(method, path)
        assert (refused.status_code, refused.json()["reason"]) == (401, "GrantMissing"), path
        assert refused.headers["WWW-Authenticate"].startswith("DPoP ")


async def test_every_answer_names_the_pod(sandboxd: Sandboxd, tcp: httpx.AsyncClient) -> None:
    signer = sandboxd.signer()
    for path, status in (
        ("/health", 200),
        ("/v1/idle", 200),
        ("/v1/files?path=/etc/passwd", 403),
        ("/x", 404),
    ):
        response = await tcp.get(path, headers=signer.headers("GET", path))
        assert (response.status_code, response.headers["Skerry-Pod-UID"]) == (status, "pod-uid-1")
    assert (await tcp.get("/v1/idle")).headers["Skerry-Pod-UID"] == "pod-uid-1"


@dataclass(frozen=True)
class Case:
    status: int
    reason: str
    signer: Callable[[Sandboxd], Signer]


def with_grant(**changes: Any) -> Callable[[Sandboxd], Signer]:
    return lambda sandboxd: sandboxd.signer(grant_for(sandboxd.identity, **changes))


def foreign(sandboxd: Sandboxd) -> Signer:
    token = issue_grant(grant_for(sandboxd.identity), STRANGER)
    return Signer(sandboxd.base_url, sandboxd.identity.runner, token)


NOW = int(time.time())
GRANTS = {
    "signed by another key": Case(401, "GrantInvalid", foreign),
    "no token at all": Case(401, "GrantInvalid", lambda s: Signer(s.base_url, s.identity.runner, "nonsense")),
    "expired": Case(401, "GrantExpired", with_grant(iat=NOW - 600, exp=NOW - 1)),
    "not yet valid": Case(401, "GrantInvalid", with_grant(iat=NOW + 3600, exp=NOW + 7200)),
    "another sandbox": Case(403, "SandboxMismatch", with_grant(sandbox_id="sbx-other")),
    "another namespace": Case(403, "SandboxMismatch", with_grant(namespace="ns-2")),
    "another Pod": Case(421, "PodMismatch", with_grant(pod_uid="pod-uid-0")),
    "another's key": Case(401, "ProofInvalid", lambda s: s.signer(key=STRANGER)),
    "for another's key": Case(
        401, "ProofInvalid", with_grant(cnf=Confirmation(jkt=STRANGER.public.thumbprint))
    ),
}


@pytest.mark.parametrize("case", GRANTS.values(), ids=GRANTS.keys())
async def test_grants_that_are_refused(sandboxd: Sandboxd, tcp: httpx.AsyncClient, case: Case) -> None:
    headers = case.signer(sandboxd).headers("GET", "/v1/idle")
    assert await get_idle(tcp, headers) == (case.status, case.reason)


PROOFS: dict[str, dict[str, Any]] = {
    "another method": {"method": "POST"},
    "another path": {"url": "/v1/files"},
    "another host": {"url": "http://10.0.0.1:8090/v1/idle"},
    "another query": {"url": "/v1/idle?x=1"},
    "another grant": {"grant": "x.y.z"},
    "too old": {"now": -120},
    "too new": {"now": 180},
}


@pytest.mark.parametrize("spoilt", PROOFS.values(), ids=PROOFS.keys())
async def test_proofs_that_are_refused(
    sandboxd: Sandboxd, tcp: httpx.AsyncClient, spoilt: dict[str, Any]
) -> None:
    if str(spoilt.get("url", "")).startswith("/"):
        spoilt = {"url": sandboxd.base_url + spoilt["url"]}
    if "now" in spoilt:  # seconds from now: the table is older than the test
        spoilt = {"now": int(time.time()) + spoilt["now"]}
    headers = sandboxd.signer().headers("GET", "/v1/idle", **spoilt)
    assert await get_idle(tcp, headers) == (401, "ProofInvalid")


async def test_the_query_is_signed(sandboxd: Sandboxd, tcp: httpx.AsyncClient) -> None:
    headers = sandboxd.signer().headers("GET", "/v1/files?path=/a")
    response = await tcp.get("/v1/files?path=/b", headers=headers)
    assert (response.status_code, response.json()["reason"]) == (401, "ProofInvalid")


@pytest.mark.parametrize("scheme", ["Bearer", ""])
async def test_a_grant_alone_is_worth_nothing(
    sandboxd: Sandboxd, tcp: httpx.AsyncClient, scheme: str
) -> None:
    token = sandboxd.signer().token
    assert await get_idle(tcp, {"Authorization": f"{scheme} {token}".strip()}) == (401, "GrantMissing")
    assert await get_idle(tcp, {"Authorization": f"DPoP {token}"}) == (401, "ProofInvalid")


async def test_a_proof_is_good_once(sandboxd: Sandboxd, tcp: httpx.AsyncClient) -> None:
    headers = sandboxd.signer().headers("GET", "/v1/idle")
    assert await get_idle(tcp, headers) == (200, "")
    assert await get_idle(tcp, headers) == (401, "ProofReplayed")


async def test_two_proofs_are_refused(sandboxd: Sandboxd, tcp: httpx.AsyncClient) -> None:
    signer = sandboxd.signer()
    headers = httpx.Headers(signer.headers("GET", "/v1/idle"))
    both = [*headers.raw, (b"DPoP", signer.headers("GET", "/v1/idle")["DPoP"].encode())]
    response = await tcp.get("/v1/idle", headers=both)
    assert (response.status_code, response.json()["reason"]) == (401, "ProofInvalid")


async def test_another_body_has_no_effect(sandboxd: Sandboxd, tcp: httpx.AsyncClient) -> None:
    signed = b'{"key":"evil","command":"echo fine"}'
    sent = b'{"key":"evil","command":"touch evil"}'
    headers = sandboxd.signer().headers("POST", "/v1/executions", signed)
    response = await tcp.post("/v1/executions", content=sent, headers=headers)
    assert (response.status_code, response.json()["reason"]) == (401, "BodyMismatch")
    assert not (sandboxd.workspace / "evil").exists()
    unknown = await tcp.get(
        "/v1/executions/evil", headers=sandboxd.signer().headers("GET", "/v1/executions/evil")
    )
    assert unknown.status_code == 404


async def test_a_body_that_was_not_signed_at_all(sandboxd: Sandboxd, tcp: httpx.AsyncClient) -> None:
    headers = sandboxd.signer().headers("DELETE", "/v1/executions/a")
    response = await tcp.request("DELETE", "/v1/executions/a", content=b"surplus", headers=headers)
    assert (response.status_code, response.json()["reason"]) == (401, "BodyMismatch")


@pytest.mark.parametrize("append", ["false", "true"])
async def test_another_upload_has_no_effect(sandboxd: Sandboxd, tcp: httpx.AsyncClient, append: str) -> None:
    (sandboxd.workspace / "kept").write_bytes(b"old")
    target = f"/v1/files?path={quote(str(sandboxd.workspace / 'kept'))}&append={append}"
    headers = sandboxd.signer().headers("PUT", target, b"x" * 100_000)
    response = await tcp.put(target, content=b"y" * 100_000, headers=headers)
    assert (response.status_code, response.json()["reason"]) == (401, "BodyMismatch")
    assert (sandboxd.workspace / "kept").read_bytes() == b"old"
    assert not [entry for entry in sandboxd.workspace.iterdir() if entry.name.startswith(".skerry")]


async def test_a_streamed_upload_that_fits(sandboxd: Sandboxd, tcp: httpx.AsyncClient) -> None:
    data = bytes(range(256)) * 20_000

    async def parts() -> AsyncIterator[bytes]:
        for start in range(0, len(data), 100_000):
            yield data[start : start + 100_000]

    target = f"/v1/files?path={quote(str(sandboxd.workspace / 'big'))}&mode=0600"
    headers = sandboxd.signer().headers("PUT", target, body_hash=hash_b64url(data))
    response = await tcp.put(target, content=parts(), headers=headers)
    assert response.json() == {"path": str(sandboxd.workspace / "big"), "size": len(data)}
    written = sandboxd.workspace / "big"
    assert hashlib.sha256(written.read_bytes()).digest() == hashlib.sha256(data).digest()
    assert written.stat().st_mode & 0o777 == 0o600


async def test_the_operators_calls_are_no_use(tmp_path: Path) -> None:
    async with (
        running_sandboxd(tmp_path) as fresh,
        httpx.AsyncClient(base_url=fresh.base_url, trust_env=False) as tcp,
    ):
        for _ in range(2):
            response = await tcp.get("/v1/idle", headers=fresh.operator_signer().headers("GET", "/v1/idle"))
            assert response.status_code == 200
            assert "lastUsedBy" not in response.json()


async def test_epochs_fence(tmp_path: Path) -> None:
    async with (
        running_sandboxd(tmp_path) as fresh,
        httpx.AsyncClient(base_url=fresh.base_url, trust_env=False) as tcp,
    ):

        async def as_epoch(epoch: int, run: str = "run-uid-1", issued: int = NOW - 5) -> tuple[int, str]:
            grant = grant_for(fresh.identity, epoch=epoch, run=RunRef(uid=run, name="r"), iat=issued)
            return await get_idle(tcp, fresh.signer(grant).headers("GET", "/v1/idle"))

        assert await as_epoch(1) == (200, "")
        assert await as_epoch(2) == (200, "")
        assert await as_epoch(1) == (403, "StaleEpoch")
        assert await as_epoch(1, run="next", issued=NOW - 1) == (200, "")
        assert await as_epoch(2) == (403, "StaleEpoch")


async def test_an_epoch_that_did_not_prove_itself_fences_nobody(tmp_path: Path) -> None:
    async with (
        running_sandboxd(tmp_path) as fresh,
        httpx.AsyncClient(base_url=fresh.base_url, trust_env=False) as tcp,
    ):
        later = fresh.signer(grant_for(fresh.identity, epoch=9), key=STRANGER)
        assert await get_idle(tcp, later.headers("GET", "/v1/idle")) == (401, "ProofInvalid")
        assert await get_idle(tcp, fresh.signer().headers("GET", "/v1/idle")) == (200, "")


async def test_a_warm_pod_becomes_the_first_grants(tmp_path: Path) -> None:
    identity = Identity(sandbox_id="")
    async with (
        running_sandboxd(tmp_path, identity) as warm,
        httpx.AsyncClient(base_url=warm.base_url, trust_env=False) as tcp,
    ):

        async def as_sandbox(name: str, **changes: Any) -> tuple[int, str]:
            signer = warm.signer(grant_for(identity, sandbox_id=name, **changes))
            return await get_idle(tcp, signer.headers("GET", "/v1/idle"))

        assert await as_sandbox("sbx-x", pod_uid="pod-uid-0") == (421, "PodMismatch")
        assert await as_sandbox("sbx-a") == (200, "")
        assert await as_sandbox("sbx-b") == (403, "SandboxMismatch")
        assert await as_sandbox("sbx-a") == (200, "")
