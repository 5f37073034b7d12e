"""kopf as shell: watch streams and nothing else. Each handler hands its event on; none patches, waits or returns.

kopf runs in a thread with an event loop of its own: on its way out it cancels every task of its loop, which ours must
survive long enough to end what they do, and its failures must not take the Lease along.
"""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections.abc import Callable
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import kopf

from skerry_api.base import GROUP
from skerry_operator.cache.store import WATCHED
from skerry_operator.kube.credentials import Credentials, Login
from skerry_operator.kube.kinds import Kind, Raw
from skerry_operator.reconcile.reader import POD_LABELS

__all__ = ["EventType", "KopfThread", "Listener", "kopf_registry", "kopf_settings"]

EventType = Literal["ADDED", "MODIFIED", "DELETED"] | None
"""None: from the list that a watch begins with."""
Listener = Callable[[Kind, EventType, Raw], None]
"""Called in kopf's thread; must not block."""
_RELOGIN = timedelta(minutes=5)
_FAREWELL = 400
"""Looks at the connections that are still open, 5 ms apart."""


def kopf_registry(listener: Listener, credentials: Credentials) -> kopf.OperatorRegistry:
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry, id="credentials")
    async def _login(**_: Any) -> kopf.ConnectionInfo:
        return _connection(await credentials.login(), datetime.now(UTC))

    for kind in WATCHED:
        _watch(registry, kind, listener)
    return registry


def _connection(login: Login, now: datetime) -> kopf.ConnectionInfo:
    """Expires in minutes, so that a rotated token is read before the old one ends."""
    return kopf.ConnectionInfo(
        server=login.server,
        ca_path=login.ca_path,
        insecure=not login.verify,
        scheme=login.scheme or None,
        token=login.token or None,
        certificate_path=login.certificate_path,
        private_key_path=login.key_path,
        proxy_url=login.proxy,
        expiration=now + _RELOGIN if login.token else None,
    )


def _watch(registry: kopf.OperatorRegistry, kind: Kind, listener: Listener) -> None:
    @kopf.on.event(*_selector(kind), registry=registry, id=kind.plural)
    async def _on_event(event: Any, **_: Any) -> None:
        listener(kind, event["type"], event["object"])


def _selector(kind: Kind) -> tuple[str, ...]:
    group, _, version = kind.api_version.rpartition("/")
    return (group, version, kind.plural) if group else (version, kind.plural)


def kopf_settings() -> kopf.OperatorSettings:
    """Everything that could write or read beyond our kinds is off; watches end and begin anew in minutes."""
    settings = kopf.OperatorSettings()
    settings.scanning.disabled = True
    settings.peering.standalone = True
    settings.posting.enabled = False
    settings.posting.loggers = False
    # on.event writes nothing; these keep a future mistake out of other people's annotations.
    settings.persistence.finalizer = f"{GROUP}/operator"
    settings.persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix=GROUP, v1=False)
    settings.persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage(
        prefix=GROUP, key="last-handled", v1=False
    )
    settings.watching.server_timeout = 300
    settings.watching.client_timeout = 330
    settings.watching.connect_timeout = 10
    settings.watching.reconnect_backoff = 1.0
    settings.watching.chunk_size = 100
    settings.watching.label_selectors["v1", "pods"] = POD_LABELS
    settings.networking.request_timeout = 30
    settings.networking.connect_timeout = 5
    settings.networking.error_backoffs = [1, 1, 2, 3, 5, 8, 13, 21] + [30] * 18  # ten minutes, then escalate
    settings.queueing.idle_timeout = 1
    settings.process.ultimate_exiting_timeout = 10
    return settings


class KopfThread:
    """kopf's operator in a thread."""

    def __init__(self, registry: kopf.OperatorRegistry, settings: kopf.OperatorSettings) -> None:
        self._registry = registry
        self._settings = settings
        self._wanted = True
        self._stop: Callable[[], None] = lambda: None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._main, name="kopf", daemon=True)
        self._finished: Future[None] = Future()

    def start(self) -> None:
        self._thread.start()

    async def ended(self) -> None:
        """Wait until it ends by itself; raises what it ended with. Cancelling this does not end it."""
        await asyncio.shield(asyncio.wrap_future(self._finished))

    async def end(self, patience: float) -> None:
        """Ask it to end and wait for at most `patience` seconds; it is a daemon, the process can end without it."""
        with self._lock:
            self._wanted = False
            self._stop()
        if self._thread.is_alive():
            await asyncio.wait([asyncio.wrap_future(self._finished)], timeout=patience)

    def _main(self) -> None:
        selector = selectors.DefaultSelector()
        try:
            with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selector)) as runner:
                try:
                    runner.run(self._operate())
                finally:
                    runner.run(_farewell(selector))
        except BaseException as error:  # noqa: BLE001 - carried to the main thread, which decides
            self._finished.set_exception(error)
        else:
            self._finished.set_result(None)

    async def _operate(self) -> None:
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        with self._lock:
            # A flag of threading would be waited for in an executor, which keeps a failed kopf from ending.
            self._stop = lambda: _set(loop, stop)
            if not self._wanted:
                return
        try:
            await kopf.operator(
                registry=self._registry,
                settings=self._settings,
                clusterwide=True,
                standalone=True,
                stop_flag=stop,
            )
        finally:
            with self._lock:
                self._stop = lambda: None  # the loop is about to close


async def _farewell(selector: selectors.BaseSelector) -> None:
    """Let TLS connections end, which takes turns of the loop: kopf awaits none of those that its watches close."""
    for _ in range(_FAREWELL):
        if len(selector.get_map()) <= 1:  # The loop's own wake-up stays.
            return
        await asyncio.sleep(0.005)


def _set(loop: asyncio.AbstractEventLoop, flag: asyncio.Event) -> None:
    loop.call_soon_threadsafe(flag.set)
