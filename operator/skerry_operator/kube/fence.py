"""The fence: no write leaves this process past its leadership's deadline, whatever the code above believes."""

from __future__ import annotations

from collections.abc import Callable

from skerry_operator.errors import Fenced
from skerry_operator.kube.kinds import Kind, Raw
from skerry_operator.kube.port import OPERATOR_MANAGER, KubePort, Listing, Sink

__all__ = ["FencedPort"]


class FencedPort:
    """Reads pass; writes raise Fenced unless `leads()` at the moment they are sent."""

    def __init__(self, inner: KubePort, leads: Callable[[], bool]) -> None:
        self._inner = inner
        self._leads = leads

    async def get(self, kind: Kind, namespace: str, name: str) -> Raw | None:
        return await self._inner.get(kind, namespace, name)

    async def list(
        self,
        kind: Kind,
        namespace: str | None = None,
        *,
        labels: str = "",
        metadata_only: bool = False,
        sink: Sink | None = None,
    ) -> Listing:
        return await self._inner.list(kind, namespace, labels=labels, metadata_only=metadata_only, sink=sink)

    async def create(self, kind: Kind, namespace: str, body: Raw) -> Raw:
        self._check("create", kind, namespace)
        return await self._inner.create(kind, namespace, body)

    async def replace(self, kind: Kind, namespace: str, name: str, body: Raw) -> Raw:
        self._check("update", kind, namespace, name)
        return await self._inner.replace(kind, namespace, name, body)

    async def apply(self, kind: Kind, namespace: str, name: str, body: Raw) -> Raw:
        self._check("apply", kind, namespace, name)
        return await self._inner.apply(kind, namespace, name, body)

    async def apply_status(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        status: Raw,
        *,
        resource_version: str,
        manager: str = OPERATOR_MANAGER,
    ) -> Raw:
        self._check("apply", kind, namespace, name)
        return await self._inner.apply_status(
            kind, namespace, name, status, resource_version=resource_version, manager=manager
        )

    async def delete(
        self, kind: Kind, namespace: str, name: str, *, uid: str, grace_seconds: int | None = None
    ) -> Raw | None:
        self._check("delete", kind, namespace, name)
        return await self._inner.delete(kind, namespace, name, uid=uid, grace_seconds=grace_seconds)

    def _check(self, verb: str, kind: Kind, namespace: str, name: str = "") -> None:
        if not self._leads():
            raise Fenced("not the leader: nothing was sent", where=f"{verb} {kind.name} {namespace}/{name}")
