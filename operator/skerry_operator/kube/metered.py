"""Counts every call by verb, kind and result: what the write budget is measured with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from skerry_operator.errors import KubeError
from skerry_operator.kube.kinds import Kind, Raw
from skerry_operator.kube.port import OPERATOR_MANAGER, KubePort, Listing, Sink
from skerry_operator.metrics import Metrics

__all__ = ["MeteredPort"]

T = TypeVar("T")


class MeteredPort:
    """`monotonic` gives seconds; verbs are get, list, create, update, apply, status, delete."""

    def __init__(self, inner: KubePort, metrics: Metrics, monotonic: Callable[[], float]) -> None:
        self._inner = inner
        self._metrics = metrics
        self._monotonic = monotonic

    async def get(self, kind: Kind, namespace: str, name: str) -> Raw | None:
        return await self._count("get", kind, self._inner.get(kind, namespace, name))

    async def list(
        self,
        kind: Kind,
        namespace: str | None = None,
        *,
        labels: str = "",
        metadata_only: bool = False,
        sink: Sink | None = None,
    ) -> Listing:
        call = self._inner.list(kind, namespace, labels=labels, metadata_only=metadata_only, sink=sink)
        return await self._count("list", kind, call)

    async def create(self, kind: Kind, namespace: str, body: Raw) -> Raw:
        return await self._count("create", kind, self._inner.create(kind, namespace, body))

    async def replace(self, kind: Kind, namespace: str, name: str, body: Raw) -> Raw:
        return await self._count("update", kind, self._inner.replace(kind, namespace, name, body))

    async def apply(self, kind: Kind, namespace: str, name: str, body: Raw) -> Raw:
        return await self._count("apply", kind, self._inner.apply(kind, namespace, name, body))

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
        call = self._inner.apply_status(
            kind, namespace, name, status, resource_version=resource_version, manager=manager
        )
        return await self._count("status", kind, call)

    async def delete(
        self, kind: Kind, namespace: str, name: str, *, uid: str, grace_seconds: int | None = None
    ) -> Raw | None:
        call = self._inner.delete(kind, namespace, name, uid=uid, grace_seconds=grace_seconds)
        return await self._count("delete", kind, call)

    async def _count(self, verb: str, kind: Kind, call: Awaitable[T]) -> T:
        began = self._monotonic()
        result = "Cancelled"
        try:
            answer = await call
            result = "OK"
        except KubeError as error:
            result = type(error).__name__
            raise
        else:
            return answer
        finally:
            self._metrics.calls.labels(verb, kind.name, result).inc()
            self._metrics.call_seconds.labels(verb).observe(self._monotonic() - began)
