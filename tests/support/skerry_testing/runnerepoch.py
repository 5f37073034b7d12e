"""A real runner process beside a real API server, the operator's part played by the test."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

from skerry_api.agentprofile import AgentProfile
from skerry_api.agentrun import AgentRun
from skerry_api.document import RunDocument
from skerry_api.grants import Confirmation, Grant, RunRef, issue_grant
from skerry_api.keys import PublicKey
from skerry_api.names import runner_pod_name
from skerry_api.resolve import document_json, resolve
from skerry_testing.apiserver import ApiServer, Json
from skerry_testing.eventually import eventually
from skerry_testing.manifests import a_profile, a_run
from skerry_testing.sandboxd import Identity, Sandboxd

__all__ = ["Epoch", "prepare"]

ACCOUNT = "skerry-runner"
PATIENCE = 60


async def prepare(api: ApiServer) -> None:
    """What the chart makes in a namespace of runs, as far as the runner needs it."""
    meta = {"name": ACCOUNT}
    await api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta})
    await api.create({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": meta,
        "rules": [
            {"apiGroups": ["skerry.dev"], "resources": ["agentruns"], "verbs": ["get", "list", "watch"]},
            {"apiGroups": ["skerry.dev"], "resources": ["agentruns/status"], "verbs": ["patch"]},
        ],
    })  # fmt: skip
    await api.create({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": meta,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ACCOUNT},
        "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": api.namespace}],
    })  # fmt: skip


class Epoch:
    """The first epoch of a run: its objects, its process, and what an operator would do about it."""

    NAME = "r"

    def __init__(self, api: ApiServer, folder: Path) -> None:
        self.api, self.folder = api, folder
        self.process: asyncio.subprocess.Process | None = None
        self.document: RunDocument | None = None
        self.pod_uid = ""
        self._told: Json = {}

    @classmethod
    @asynccontextmanager
    async def made(cls, api: ApiServer, folder: Path) -> AsyncIterator[Self]:
        """The process, if one was started, ends with the block."""
        it = cls(api, folder)
        try:
            yield it
        finally:
            if it.process is not None and it.process.returncode is None:
                it.process.kill()
                await it.process.wait()

    # The operator's part

    async def tell(self, **status: Any) -> None:
        """Lay fields over the operator's part of status; None takes one away."""
        self._told = {key: value for key, value in (self._told | status).items() if value is not None}
        await self.api.apply_status("AgentRun", self.NAME, self._told, "skerry-operator")

    def sandbox_identity(self, pod_uid: str = "sandbox-pod-1") -> Identity:
        assert self.document is not None
        return Identity(
            sandbox_id=self.document.sandbox.sandbox_id, pod_uid=pod_uid, namespace=self.api.namespace
        )

    async def give(self, sandboxd: Sandboxd, **fields: Any) -> None:
        """Answer the runner's request with this sandbox."""
        run = await self.wait(lambda status: "sandboxRequest" in status.get("runner", {}))
        request = run["status"]["runner"]["sandboxRequest"]
        who, now = sandboxd.identity, int(time.time())
        claims = Grant(
            namespace=who.namespace, sandbox_id=who.sandbox_id, pod_uid=who.pod_uid,
            run=RunRef(uid=run["metadata"]["uid"], name=self.NAME), epoch=request["epoch"],
            cnf=Confirmation(jkt=PublicKey.from_text(request["publicKey"]).thumbprint),
            iat=now, exp=now + 600, jti=f"{who.pod_uid}-{now}",
        )  # fmt: skip
        use = {
            "name": who.sandbox_id, "state": "Ready", "podUID": who.pod_uid, "endpoint": sandboxd.base_url,
            "grant": issue_grant(claims, who.operator),
        }  # fmt: skip
        await self.tell(sandbox=use | fields)

    # The runner's

    async def start(
        self, script: str, *, named: bool = True, profile: Json | None = None, **spec: Any
    ) -> None:
        """Make run, Pod and status, then start the runner. `named`: status names its Pod from the first."""
        raw = await self.api.create(a_run(self.NAME, model={"script": script}, **spec))
        made = AgentProfile.read(a_profile("p", **(profile or {})))
        document = resolve(AgentRun.read(raw), made, {}, epoch=1)
        assert isinstance(document, RunDocument), document
        self.document = document
        pod = await self.api.create(_pod(runner_pod_name(self.NAME, 1)))
        self.pod_uid = pod["metadata"]["uid"]
        await self.tell(phase="Running", epoch=1, podName=pod["metadata"]["name"])
        if named:
            await self.tell(podUID=self.pod_uid)
        (self.folder / "document.json").write_text(document_json(document))
        (self.folder / "token").write_text(await self.api.token_for(ACCOUNT, pod))
        (self.folder / "ca.crt").write_text(self.api.access.ca_pem)
        await self.launch()

    async def launch(self) -> None:
        env = {
            "PATH": os.environ["PATH"], "POD_NAME": runner_pod_name(self.NAME, 1), "POD_UID": self.pod_uid,
            "POD_NAMESPACE": self.api.namespace, "NODE_NAME": "node-1",
            "SKERRY_API_SERVER": self.api.access.server, "SKERRY_SERVICE_ACCOUNT": str(self.folder),
            "SKERRY_DOCUMENT": str(self.folder / "document.json"), "SKERRY_STATE": str(self.folder),
            "SKERRY_TERMINATION_LOG": str(self.folder / "termination-log"), "SKERRY_STREAM_PORT": "0",
        }  # fmt: skip
        with (self.folder / "stdout").open("wb") as out, (self.folder / "stderr").open("wb") as err:
            self.process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "skerry_runner", env=env, stdout=out, stderr=err
            )

    def send_signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    async def ended(self) -> int:
        """The exit code. Raises TimeoutError."""
        assert self.process is not None
        async with asyncio.timeout(PATIENCE):
            return await self.process.wait()

    async def wait(self, holds: Any) -> Json:
        """The run, once `holds` is true of its status. Raises AssertionError showing logs when it never is."""
        try:
            return await self.api.wait_for(
                "AgentRun", self.NAME, lambda run: holds(run.get("status", {})), within=PATIENCE
            )
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.logs}") from None

    async def status(self) -> Json:
        status: Json = (await self.api.get("AgentRun", self.NAME)).get("status", {})
        return status

    async def file(self, path: Path) -> None:
        """Wait until a command in the sandbox has made the file."""
        await eventually(path.exists, within=PATIENCE)

    @property
    def logs(self) -> str:
        return (self.folder / "stderr").read_text()

    @property
    def termination(self) -> Json | None:
        path = self.folder / "termination-log"
        return json.loads(path.read_text()) if path.exists() else None

    def journal(self, *types: str) -> list[Json]:
        lines = [json.loads(line) for line in (self.folder / "journal.jsonl").read_text().splitlines()]
        return [line for line in lines if not types or line["type"] in types]


def _pod(name: str) -> Json:
    container = {"name": "runner", "image": "skerry-runner:test"}
    return {
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"serviceAccountName": ACCOUNT, "restartPolicy": "Never", "containers": [container]},
    }  # fmt: skip
