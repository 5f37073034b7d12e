"""Kubernetes Events: written by a task of their own, so that a slow or failing Event never holds a reconcile up.

Their names are derived, so that an Event which is sent twice stands once.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable
from datetime import datetime
from typing import Any

import structlog

from skerry_api.base import KubeObject, format_time
from skerry_operator.errors import AlreadyExists, KubeError
from skerry_operator.kube.kinds import EVENT
from skerry_operator.kube.port import KubePort
from skerry_operator.metrics import Metrics
from skerry_operator.plan.events import EventRecord

__all__ = ["COMPONENT", "EventRecorder", "event_body"]

COMPONENT = "skerry-operator"
_log = structlog.get_logger(__name__)
_MESSAGE_MAX = 1024
_BACKLOG = 1000


def event_body(regarding: KubeObject, record: EventRecord, now: datetime, instance: str) -> dict[str, Any]:
    """A v1 Event; its name is the same for the same record about the same version of the object."""
    meta = regarding.metadata
    parts = (meta.uid, meta.resource_version, record.reason, record.message)
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    moment = format_time(now)
    return {
        "apiVersion": EVENT.api_version,
        "kind": EVENT.name,
        "metadata": {"name": f"{meta.name[:200]}.{digest}", "namespace": meta.namespace},
        "involvedObject": {
            "apiVersion": regarding.api_version,
            "kind": regarding.kind,
            "name": meta.name,
            "namespace": meta.namespace,
            "uid": meta.uid,
            "resourceVersion": meta.resource_version,
        },
        "reason": record.reason.value,
        "message": record.message[:_MESSAGE_MAX],
        "type": record.type,
        "firstTimestamp": moment,
        "lastTimestamp": moment,
        "count": 1,
        "source": {"component": COMPONENT},
        "reportingComponent": COMPONENT,
        "reportingInstance": instance,
    }


class EventRecorder:
    """`emit` never waits; `run` writes until cancelled; `drain` waits until all is written."""

    def __init__(self, port: KubePort, metrics: Metrics, instance: str) -> None:
        self._port = port
        self._metrics = metrics
        self._instance = instance
        self.backlog: asyncio.Queue[dict[str, Any]] = asyncio.Queue(_BACKLOG)

    def emit(self, regarding: KubeObject, records: Iterable[EventRecord], now: datetime) -> None:
        for record in records:
            try:
                self.backlog.put_nowait(event_body(regarding, record, now, self._instance))
            except asyncio.QueueFull:
                self._metrics.events_dropped.inc()

    async def run(self) -> None:
        while True:
            body = await self.backlog.get()
            try:
                await self._port.create(EVENT, body["metadata"]["namespace"], body)
            except AlreadyExists:
                pass
            except KubeError as error:
                self._metrics.events_dropped.inc()
                _log.warning("event not written", name=body["metadata"]["name"], error=str(error))
            finally:
                self.backlog.task_done()

    async def drain(self) -> None:
        await self.backlog.join()
