"""Workers: take a key, reconcile it, put it back when it failed or wants to be seen again."""

from __future__ import annotations

from contextvars import ContextVar

import structlog

from skerry_operator.clock import Clock
from skerry_operator.errors import Fenced, KubeError, OperatorError, Unknown
from skerry_operator.health import Health
from skerry_operator.keys import Key
from skerry_operator.metrics import Metrics
from skerry_operator.queue.workqueue import QueueClosed, WorkQueue
from skerry_operator.reconcile.reconciler import Reconciler

__all__ = ["Worker", "current_key"]

current_key: ContextVar[Key | None] = ContextVar("current_key", default=None)
"""The key of the pass that the running code belongs to; its own changes need not wake it, since it looks again."""

_log = structlog.get_logger(__name__)


class Worker:
    def __init__(
        self,
        queue: WorkQueue[Key],
        reconciler: Reconciler,
        *,
        clock: Clock,
        metrics: Metrics,
        health: Health,
    ) -> None:
        self._queue = queue
        self._reconciler = reconciler
        self._clock = clock
        self._metrics = metrics
        self._health = health

    async def run(self) -> None:
        """Until the queue is closed."""
        try:
            while True:
                await self.step()
        except QueueClosed:
            return

    async def step(self) -> None:
        """One pass of the next key; raises QueueClosed."""
        key = await self._queue.get()
        mark = current_key.set(key)
        try:
            await self._pass(key)
        finally:
            current_key.reset(mark)
            self._queue.done(key)
            self._health.note_passed()

    async def _pass(self, key: Key) -> None:
        """Whatever it raises ends here, and the key comes back after its back-off."""
        began = self._clock.monotonic()
        try:
            wake_at = await self._reconciler.reconcile(key)
        except Fenced:
            result = "fenced"  # the next leader looks at it; so do we, should we lead again
        except OperatorError as error:
            result = self._failed(key, error)
        except Exception:  # noqa: BLE001 - one key must not end the worker of all others
            result = "bug"
            delay = self._queue.retry(key)
            _log.exception("reconcile broke", key=str(key), retry_in=round(delay, 2))
        else:
            result = "ok"
            self._queue.forget(key)
            if wake_at is not None:
                self._queue.add_after(key, (wake_at - self._clock.now()).total_seconds())
        self._metrics.reconciles.labels(key.topic, result).inc()
        self._metrics.reconcile_seconds.labels(key.topic).observe(self._clock.monotonic() - began)

    def _failed(self, key: Key, error: OperatorError) -> str:
        asked = error.retry_after if isinstance(error, Unknown) else None
        delay = self._queue.retry(key, at_least=asked or 0.0)
        _log.warning(
            "reconcile failed",
            key=str(key),
            error=str(error),
            failures=self._queue.failures(key),
            retry_in=round(delay, 2),
        )
        return type(error).__name__ if isinstance(error, KubeError) else "restless"
