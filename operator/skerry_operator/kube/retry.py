"""Retries of what may be done twice: reads, applies and deletions by UID, after Unknown.

A create or replace is not repeated here: the next reconcile looks first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import tenacity

from skerry_operator.errors import Unknown
from skerry_operator.kube.kinds import Kind, Raw
from skerry_operator.kube.port import OPERATOR_MANAGER, KubePort, Listing, Sink

__all__ = ["RetryingPort"]

T = TypeVar("T")
_LONGEST_WAIT = 5.0


class RetryingPort:
    """`attempts` tries in all, waiting exponentially with full jitter from `base` seconds, or as long as the server says."""

    def __init__(
        self,
        inner: KubePort,
        *,
        attempts: int = 3,
        base: float = 0.1,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._inner = inner
        self._attempts = attempts
        self._backoff = tenacity.wait_random_exponential(multiplier=base, max=_LONGEST_WAIT)
        self._sleep = sleep

    async def get(self, kind: Kind, namespace: str, name: str) -> Raw | None:
        return await self._repeat(lambda: self._inner.get(kind, namespace, name))

    async def list(
        self,
        kind: Kind,
        namespace: str | None = None,
        *,
        labels: str = "",
        metadata_only: bool = False,
        sink: Sink | None = None,
    ) -> Listing:
        return await self._repeat(
            lambda: self._inner.list(kind, namespace, labels=labels, metadata_only=metadata_only, sink=sink)
        )

    async def create(self, kind: Kind, namespace: str, body: Raw) -> Raw:
        return await self._inner.create(kind, namespace, body)

    async def replace(self, kind: Kind, namespace: str, name: str, body: Raw) -> Raw:
        return await self._inner.replace(kind, namespace, name, body)

    async def apply(self, kind: Kind, namespace: str, name: str, body: Raw) -> Raw:
        return await self._repeat(lambda: self._inner.apply(kind, namespace, name, body))

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
        # Twice does no harm: had the first got through, the second is a Conflict, and planned again.
        return await self._repeat(
            lambda: self._inner.apply_status(
                kind, namespace, name, status, resource_version=resource_version, manager=manager
            )
        )

    async def delete(
        self, kind: Kind, namespace: str, name: str, *, uid: str, grace_seconds: int | None = None
    ) -> Raw | None:
        return await self._repeat(
            lambda: self._inner.delete(kind, namespace, name, uid=uid, grace_seconds=grace_seconds)
        )

    async def _repeat(self, call: Callable[[], Awaitable[T]]) -> T:
        retrying = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(self._attempts),
            wait=self._wait,
            retry=tenacity.retry_if_exception_type(Unknown),
            sleep=self._sleep,
            reraise=True,
        )
        async for attempt in retrying:
            with attempt:
                return await call()
        raise AssertionError("tenacity re-raises the last error")

    def _wait(self, state: tenacity.RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        asked = error.retry_after if isinstance(error, Unknown) else None
        return self._backoff(state) if asked is None else min(asked, _LONGEST_WAIT)
