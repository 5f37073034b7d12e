"""A real sandboxd in a process of its own, with keys and grants to call it, all on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from skerry_api.grants import Confirmation, Grant, GrantRole, RunRef, issue_grant
from skerry_api.keys import KeySet, SigningKey
from skerry_api.proofs import hash_b64url, make_proof
from skerry_runner.paths import USER_DATA, WORKSPACE
from skerry_runner.sandbox.access import Access

__all__ = ["Identity", "Sandboxd", "Signer", "grant_for", "running_sandboxd"]


@dataclass(frozen=True)
class Identity:
    """Whose sandbox it is, and the keys of everybody."""

    operator: SigningKey = field(default_factory=SigningKey.generate)
    runner: SigningKey = field(default_factory=SigningKey.generate)
    sandbox_id: str = "sbx-test"
    pod_uid: str = "pod-uid-1"
    namespace: str = "ns-1"


def grant_for(identity: Identity, **changes: Any) -> Grant:
    """A good runner's grant, with `changes`."""
    now = int(time.time())
    fields: dict[str, Any] = {
        "namespace": identity.namespace,
        "sandbox_id": identity.sandbox_id,
        "pod_uid": identity.pod_uid,
        "run": RunRef(uid="run-uid-1", name="run-1"),
        "epoch": 1,
        "cnf": Confirmation(jkt=identity.runner.public.thumbprint),
        "iat": now - 5,
        "exp": now + 600,
        "jti": secrets.token_hex(8),
    }
    return Grant(**(fields | changes))


@dataclass(frozen=True)
class Signer:
    """Signs single requests the way a well-behaved caller does; any part of it may be spoilt by `proof` fields."""

    base_url: str
    key: SigningKey
    token: str

    def headers(self, method: str, target: str, body: bytes = b"", /, **proof: Any) -> dict[str, str]:
        fields: dict[str, Any] = {
            "method": method,
            "url": self.base_url + target,
            "grant": self.token,
            "body_hash": hash_b64url(body),
            "now": int(time.time()),
            "jti": secrets.token_urlsafe(),
        }
        token = make_proof(self.key, **(fields | proof))
        return {"Authorization": f"DPoP {self.token}", "DPoP": token}


@dataclass
class Sandboxd:
    """A running one. `files` is its only writable root, `logs` its JSON log lines so far."""

    identity: Identity
    process: asyncio.subprocess.Process
    port: int
    files: Path
    socket: Path
    state: Path
    logs: list[dict[str, Any]]

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def workspace(self) -> Path:
        return self.files / "workspace"

    def signer(self, grant: Grant | None = None, *, key: SigningKey | None = None) -> Signer:
        token = issue_grant(grant or grant_for(self.identity), self.identity.operator)
        return Signer(self.base_url, key or self.identity.runner, token)

    def operator_signer(self) -> Signer:
        mine = Confirmation(jkt=self.identity.operator.public.thumbprint)
        grant = grant_for(self.identity, role=GrantRole.OPERATOR, run=None, epoch=0, cnf=mine)
        return self.signer(grant, key=self.identity.operator)

    def access(self, **changes: Any) -> Access:
        grant = issue_grant(grant_for(self.identity, **changes), self.identity.operator)
        return Access(self.base_url, grant, self.identity.pod_uid)

    def local(self) -> httpx.AsyncClient:
        """A client of the unix socket."""
        transport = httpx.AsyncHTTPTransport(uds=str(self.socket))
        return httpx.AsyncClient(transport=transport, base_url="http://sandboxd", timeout=30)

    async def stop(self) -> int:
        with contextlib.suppress(ProcessLookupError):
            self.process.terminate()
        return await self.process.wait()


@contextlib.asynccontextmanager
async def running_sandboxd(
    where: Path,
    identity: Identity | None = None,
    *,
    port: int = 0,
    mounted: bool = False,
    prefix: tuple[str, ...] = (),
    **environment: str,
) -> AsyncIterator[Sandboxd]:
    """Start one below `where`; it is stopped at the end, whatever happened. `environment` overrides variables.

    `mounted`: it sees its files at /mnt/user-data, as in a Pod, in a mount namespace of its own. `prefix`: a
    command that runs the rest, as another user, say.
    """
    identity = identity or Identity()
    files, run = where / "files", where / "run"
    files.mkdir(parents=True, exist_ok=True)
    run.mkdir(exist_ok=True)
    process = await asyncio.create_subprocess_exec(
        *prefix, *(_in_pod_view(files) if mounted else ()), sys.executable, "-W", "default", "-m", "skerry_sandboxd",
        env={
            "PATH": os.environ["PATH"], "HOME": str(files),
            "SKERRY_OPERATOR_KEYS": KeySet.of([identity.operator.public]).to_jwks(),
            "SKERRY_POD_UID": identity.pod_uid, "SKERRY_SANDBOX_ID": identity.sandbox_id,
            "SKERRY_NAMESPACE": identity.namespace, "SKERRY_LISTEN": f"127.0.0.1:{port}",
            "SKERRY_SOCKET": str(run / "sandboxd.sock"), "SKERRY_STATE_DIR": str(run),
            "SKERRY_FILE_ROOTS": USER_DATA if mounted else str(files),
            "SKERRY_CWD": WORKSPACE if mounted else str(files / "workspace"),
        } | {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ} | environment,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    logs: list[dict[str, Any]] = []
    assert process.stderr is not None
    reader = asyncio.create_task(_read_logs(process.stderr, logs))
    try:
        bound = await _listening(logs, reader)
        yield Sandboxd(identity, process, bound, files, run / "sandboxd.sock", run, logs)
    except BaseException as error:
        error.add_note(f"sandboxd said: {logs}")
        raise
    finally:
        if process.returncode is None:
            process.terminate()
        try:
            async with asyncio.timeout(30):
                await process.wait()
                await reader
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
    bad = [line for line in logs if line["level"] in {"error", "warning", "raw"}]
    assert not bad, bad


def _in_pod_view(files: Path) -> tuple[str, ...]:
    """A command that runs the rest with `files` at /mnt/user-data; the machine's own /mnt is hidden, not touched."""
    own = () if os.geteuid() == 0 else ("--user", "--map-root-user")
    script = f'mount -t tmpfs none /mnt && mkdir {USER_DATA} && mount --bind "$1" {USER_DATA} && shift && exec "$@"'
    return ("unshare", *own, "--mount", "sh", "-ec", script, "sh", str(files))


async def _read_logs(stream: asyncio.StreamReader, logs: list[dict[str, Any]]) -> None:
    async for line in stream:
        try:
            logs.append(json.loads(line))
        except ValueError:
            logs.append({"level": "raw", "message": line.decode(errors="replace")})


async def _listening(logs: list[dict[str, Any]], reader: asyncio.Task[None]) -> int:
    async with asyncio.timeout(30):
        while True:
            for line in logs:
                if line.get("message") == "listening":
                    return int(line["port"])
            if reader.done():
                raise RuntimeError(f"sandboxd did not start: {logs}")
            await asyncio.sleep(0.005)
