"""The fence: no write leaves this process past its leadership's deadline, whatever the code above believes.

Nor is one waited for until another process may lead: by then it is Unknown what became of it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from skerry_operator.clock import Clock, within
from skerry_operator.errors import Fenced, Unknown
from skerry_operator.kube.kinds import Kind, Raw
from skerry_operator.kube.port import OPERATOR_MANAGER, KubePort, Listing, Sink

__all__ = ["FencedPort"]

T = TypeVar("T")


class FencedPort:
    """Reads pass. `patience` says, at the moment a write is sent, how many seconds it may take; 0: it raises Fenced."""

    def __init__(self, inner: KubePort, patience: Callable[[], float], clock: Clock) -> None:
        self._inner = inner
        self._patience = patience
        self._clock = clock

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
        name = body["metadata"].get("name", "")
        return await self._write(
            f"create {kind.name} {namespace}/{name}", lambda: self._inner.create(kind, namespace, body)
        )

    async def replace(self, kind: Kind, namespace: str, name: str, body: Raw) -> Raw:
        return await self._write(
            f"update {kind.name} {namespace}/{name}",
            lambda: self._inner.replace(kind, namespace, name, body),
        )

    async def apply(self, kind: Kind, namespace: str, name: str, body: Raw) -> Raw:
        return await self._write(
            f"apply {kind.name} {namespace}/{name}", lambda: self._inner.apply(kind, namespace, name, body)
        )

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
        return await self._write(
            f"apply {kind.name}/status {namespace}/{name}",
            lambda: self._inner.apply_status(
                kind, namespace, name, status, resource_version=resource_version, manager=manager
            ),
        )

    async def delete(
        self, kind: Kind, namespace: str, name: str, *, uid: str, grace_seconds: int | None = None
    ) -> Raw | None:
        return await self._write(
            f"delete {kind.name} {namespace}/{name}",
            lambda: self._inner.delete(kind, namespace, name, uid=uid, grace_seconds=grace_seconds),
        )

    async def _write(self, where: str, send: Callable[[], Awaitable[T]]) -> T:
        seconds = self._patience()
        if seconds <= 0:
            raise Fenced("not the leader: nothing was sent", where=where)
        try:
            return await within(self._clock, seconds, send())
        except TimeoutError as error:
            raise Unknown("no answer while this process was sure to lead", where=where) from error
