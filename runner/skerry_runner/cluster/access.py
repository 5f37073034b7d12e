"""How the sandbox is reached, as the own run's status has it: only with a grant that is for this runner's key."""

from __future__ import annotations

import asyncio

import jwt
from typing_extensions import override

from skerry_api.phases import SandboxState
from skerry_runner.cluster.own_run import OwnRun
from skerry_runner.cluster.view import RunView
from skerry_runner.sandbox.access import Access, AccessProvider
from skerry_runner.sandbox.errors import SandboxLost, SandboxUnavailable

__all__ = ["RunAccess", "access_of", "grant_is_for"]

PATIENCE = 600.0
"""Seconds that a replacement may take to be Ready: image pulls included."""


def grant_is_for(grant: str, thumbprint: str, epoch: int) -> bool:
    """Whether the grant names this key and epoch. No signature is checked: sandboxd does, and it alone knows the keys.

    An older epoch's grant stands in status until the operator has answered the new request.
    """
    try:
        claims = jwt.decode(grant, options={"verify_signature": False})
    except jwt.InvalidTokenError:
        return False
    confirmed = claims.get("cnf")
    return claims.get("epoch") == epoch and isinstance(confirmed, dict) and confirmed.get("jkt") == thumbprint


def access_of(view: RunView, thumbprint: str, epoch: int) -> Access | None:
    """The access that stands in status, None while there is none for us. Raises SandboxLost once none will come."""
    use = view.sandbox
    if use is None:
        return None
    if use.state is SandboxState.LOST:
        raise SandboxLost(f"the sandbox {use.name} is lost after {use.replacements} replacements")
    if use.state is not SandboxState.READY or not (use.endpoint and use.grant and use.pod_uid):
        return None
    if not grant_is_for(use.grant, thumbprint, epoch):
        return None
    return Access(endpoint=use.endpoint, grant=use.grant, pod_uid=use.pod_uid)


class RunAccess(AccessProvider):
    """Reads the access from the watched run. `patience` bounds the wait for a replacement, in seconds."""

    def __init__(self, own: OwnRun, *, thumbprint: str, epoch: int, patience: float = PATIENCE) -> None:
        self._own, self._thumbprint, self._epoch, self._patience = own, thumbprint, epoch, patience

    async def first(self) -> Access:
        """Wait for the first access, for as long as the run goes on."""
        return await self._own.until(self._read)

    @override
    async def current(self) -> Access:
        # While it is being replaced there is nothing to be had from the old address: wait for the new one.
        return await self._wait(None)

    @override
    async def renewed(self, stale: Access) -> Access:
        return await self._wait(stale)

    def _read(self, view: RunView) -> Access | None:
        return access_of(view, self._thumbprint, self._epoch)

    async def _wait(self, stale: Access | None) -> Access:
        def newer(view: RunView) -> Access | None:
            found = self._read(view)
            return None if found == stale else found

        try:
            async with asyncio.timeout(self._patience):
                return await self._own.until(newer)
        except TimeoutError:
            raise SandboxUnavailable("no sandbox became ready in time") from None
