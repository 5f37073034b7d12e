"""Events from kopf's thread to the event loop that owns the cache: in order, in batches, never blocking either side."""

from __future__ import annotations

import asyncio
from collections import deque

import structlog

from skerry_operator.cache.store import Store
from skerry_operator.clock import Clock
from skerry_operator.handlers import EventType
from skerry_operator.health import Health
from skerry_operator.kube.kinds import Kind, Raw

__all__ = ["Inbox"]

_log = structlog.get_logger(__name__)
_BATCH = 50
"""Events taken at once before others on the loop have their turn."""


class Inbox:
    """Make it on the loop that owns `store`."""

    def __init__(self, store: Store, clock: Clock, health: Health) -> None:
        self._store = store
        self._clock = clock
        self._health = health
        self._loop = asyncio.get_running_loop()
        self._waiting: deque[tuple[Kind, EventType, Raw]] = deque()  # its append and popleft are atomic
        self._closed = False

    def post(self, kind: Kind, event: EventType, raw: Raw) -> None:
        """From any thread."""
        self._waiting.append((kind, event, raw))
        if len(self._waiting) == 1 and not self._closed:
            self._loop.call_soon_threadsafe(self._take)

    def close(self) -> None:
        self._closed = True

    def _take(self) -> None:
        for _ in range(_BATCH):
            if not self._waiting:
                return
            # Removed only after it was taken, so that post() does not schedule us twice.
            kind, event, raw = self._waiting[0]
            try:
                self._put(kind, event, raw)
            except Exception:  # noqa: BLE001 - one odd object must not stop the news of all others
                _log.exception("event not understood", kind=kind.name, event_type=event)
            finally:
                self._waiting.popleft()
        if self._waiting and not self._closed:
            self._loop.call_soon(self._take)

    def _put(self, kind: Kind, event: EventType, raw: Raw) -> None:
        self._health.note_delivered(kind)
        if event == "DELETED":
            meta = raw["metadata"]
            version = int(meta["resourceVersion"])
            self._store.drop(kind, meta.get("namespace", ""), meta["name"], version, self._clock.now())
        else:
            self._store.put(kind, raw)
