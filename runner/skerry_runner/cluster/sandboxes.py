"""The SandboxProvider of a cluster: asks the operator by the run's status, and lets go by closing the client."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from typing_extensions import override

from skerry_api.document import RunDocument
from skerry_api.keys import SigningKey
from skerry_api.report import SandboxRequest
from skerry_runner.cluster.access import RunAccess
from skerry_runner.cluster.own_run import OwnRun
from skerry_runner.cluster.reporter import ClusterReporter
from skerry_runner.ports import SandboxProvider
from skerry_runner.sandbox.access import AccessProvider
from skerry_runner.sandbox.types import Sandbox

__all__ = ["ClusterSandboxes", "Connect"]

Connect = Callable[[str, AccessProvider, SigningKey], Sandbox]
"""Makes the client of a sandbox: its id, the way to it, the key that signs."""


def _remote(sandbox_id: str, access: AccessProvider, key: SigningKey) -> Sandbox:
    from skerry_runner.sandbox.remote import RemoteSandbox

    return RemoteSandbox(sandbox_id, access, key)


class ClusterSandboxes(SandboxProvider):
    """One sandbox at most. The key lives as long as this epoch's process and never leaves it."""

    def __init__(
        self, document: RunDocument, own: OwnRun, reporter: ClusterReporter, *, connect: Connect = _remote
    ) -> None:
        self._id, self._epoch = document.sandbox.sandbox_id, document.run.epoch
        self._own, self._reporter, self._connect = own, reporter, connect
        self._key = SigningKey.generate()
        self._sandbox: Sandbox | None = None
        self._acquiring = asyncio.Lock()

    @property
    @override
    def current(self) -> Sandbox | None:
        return self._sandbox

    @property
    @override
    def thread_files(self) -> None:
        """The data volume is the sandbox's alone."""

    @override
    async def acquire(self) -> Sandbox:
        async with self._acquiring:
            if self._sandbox is None:
                request = SandboxRequest(epoch=self._epoch, public_key=self._key.public.text)
                await self._reporter.ask_for_sandbox(request)
                access = RunAccess(self._own, thumbprint=self._key.public.thumbprint, epoch=self._epoch)
                await access.first()
                self._sandbox = self._connect(self._id, access, self._key)
            return self._sandbox

    @override
    async def release(self) -> None:
        # Parked or destroyed is the operator's decision, made when the run is no longer live.
        sandbox, self._sandbox = self._sandbox, None
        if sandbox is not None:
            await sandbox.close()
