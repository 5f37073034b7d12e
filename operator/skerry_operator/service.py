"""The operator as a running whole: what is made of what, in which order it starts, and how it ends.

Start: caches are filled, watches begin, the Lease is contended for; work is done only while leading.
End: passes under way finish, Events go out, the Lease is released, then the watches end.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial

import httpx
import structlog

from skerry_operator.cache.store import Change, Store
from skerry_operator.clock import Clock, within
from skerry_operator.config import Config
from skerry_operator.errors import ConfigError, KubeError
from skerry_operator.events import EventRecorder
from skerry_operator.gauges import snapshot
from skerry_operator.handlers import KopfThread, kopf_registry, kopf_settings
from skerry_operator.health import Health, Limits
from skerry_operator.inbox import Inbox
from skerry_operator.keys import Key
from skerry_operator.kube.aio import AioPort
from skerry_operator.kube.credentials import Credentials
from skerry_operator.kube.fence import FencedPort
from skerry_operator.kube.metered import MeteredPort
from skerry_operator.kube.port import KubePort
from skerry_operator.kube.retry import RetryingPort
from skerry_operator.leader import Elector
from skerry_operator.lease import Terms
from skerry_operator.metrics import Metrics
from skerry_operator.probes import metrics_app, probes_app, serve
from skerry_operator.queue.workqueue import WorkQueue
from skerry_operator.reconcile.effects import Effects
from skerry_operator.reconcile.idle import HttpIdleProbe
from skerry_operator.reconcile.keyring import KeyRing
from skerry_operator.reconcile.resync import Resync
from skerry_operator.reconcile.term import Term, TermSettings
from skerry_operator.supervise import Tasks

__all__ = ["Environment", "Service"]

_log = structlog.get_logger(__name__)
_WATCH_GRACE = 3.0  # how far behind a watch may be before its changes count as missed
_PRIME_RETRY = 2.0
_IDLE_TIMEOUT = 3.0
_DRAIN = 3.0
_LOOK_AGAIN = 30.0  # over how many seconds a resync spreads its keys
_KOPF_END = 8.0


@dataclass(frozen=True)
class Environment:
    """What the process is given besides its configuration. `random` gives floats in [0, 1)."""

    credentials: Credentials
    identity: str
    clock: Clock
    random: Callable[[], float]
    new_id: Callable[[], str]


class Service:
    def __init__(self, config: Config, environment: Environment) -> None:
        """Raises ConfigError when the signing keys can't be read. Make it on the event loop."""
        self._config = config
        self._env = environment
        self._clock = environment.clock
        self._keys = KeyRing(config.keys_directory, environment.new_id)
        self._metrics = Metrics()
        limits = Limits(resync_age=3 * config.resync_seconds + 60, queue_age=120, missed_resyncs=3)
        self._health = Health(self._clock.monotonic, limits)
        self._term: Term | None = None
        self._store = Store(self._heard)
        self._tasks = Tasks()

    async def run(self, stop: asyncio.Event) -> None:
        """Until `stop` is set; raises what ended it before. Leaves nothing running."""
        config = self._config
        async with AsyncExitStack() as stack:
            raw = await stack.enter_async_context(
                AioPort(self._env.credentials, timeout=config.request_timeout_seconds)
            )
            client = await stack.enter_async_context(
                httpx.AsyncClient(timeout=_IDLE_TIMEOUT, trust_env=False)
            )
            await stack.enter_async_context(serve(probes_app(self._health), config.probes_port))
            await stack.enter_async_context(serve(metrics_app(self._metrics.registry), config.metrics_port))
            port = MeteredPort(raw, self._metrics, self._clock.monotonic)
            elector = self._elector(port)
            fenced = RetryingPort(FencedPort(port, elector.patience, self._clock), sleep=self._clock.sleep)
            await self._work(elector, self._effects(fenced, client), stop)

    async def _work(self, elector: Elector, effects: Effects, stop: asyncio.Event) -> None:
        self._metrics.serve_gauges(partial(snapshot, self._store, self._health, self._queue, elector.leads))
        resync = Resync(
            port=effects.port,
            store=self._store,
            clock=self._clock,
            health=self._health,
            metrics=self._metrics,
            grace=_WATCH_GRACE,
        )
        inbox = Inbox(self._store, self._clock, self._health)
        watches = KopfThread(kopf_registry(inbox.post, self._env.credentials), kopf_settings())
        try:
            self._tasks.start("resync", self._resync(resync, watches))
            self._tasks.start("watches", watches.ended())
            self._tasks.start("election", elector.run())
            self._tasks.start("events", effects.events.run())
            self._tasks.start("leading", self._lead(elector, effects))
            _log.info("started", identity=self._env.identity, namespaces=self._config.run_namespaces)
            await self._tasks.until(stop)
        finally:
            _log.info("stopping", leads=elector.leads())
            self._health.stopping = True
            await self._tasks.end("leading")
            await self._drain(effects.events)
            await self._tasks.end("election")
            await elector.release()
            await self._tasks.end_all()
            inbox.close()
            await watches.end(_KOPF_END)
            _log.info("stopped")

    async def _lead(self, elector: Elector, effects: Effects) -> None:
        """A term each time that the Lease is ours."""
        settings = TermSettings(workers=self._config.workers)
        while True:
            await elector.wait_leading()
            self._term = Term(effects, self._health, settings, self._env.random)
            term, lost = asyncio.create_task(self._term.run()), asyncio.create_task(elector.wait_lost())
            try:
                await asyncio.wait({term, lost}, return_when=asyncio.FIRST_COMPLETED)
                if term.done():
                    term.result()
            finally:
                lost.cancel()
                term.cancel()
                await asyncio.wait({term})
                self._term = None

    async def _resync(self, resync: Resync, watches: KopfThread) -> None:
        """Fill the caches, let the watches begin, then compare from time to time."""
        while True:
            try:
                await resync.prime()
                break
            except KubeError as error:
                _log.warning("cannot list yet", error=str(error))
                await self._clock.sleep(_PRIME_RETRY)
        watches.start()
        while True:
            await self._clock.sleep(self._config.resync_seconds * (0.9 + 0.2 * self._env.random()))
            try:
                self._keys.reload()
                await resync.check()
            except (KubeError, ConfigError) as error:
                _log.warning("resync failed", error=str(error))
            if self._term is not None:
                self._term.look_again(min(_LOOK_AGAIN, self._config.resync_seconds / 2))

    async def _drain(self, events: EventRecorder) -> None:
        try:
            await within(self._clock, _DRAIN, events.drain())
        except TimeoutError:
            _log.warning("events left unwritten")

    def _heard(self, change: Change) -> None:
        if self._term is not None:
            self._term.heard(change)

    def _queue(self) -> WorkQueue[Key] | None:
        return self._term.queue if self._term is not None else None

    def _elector(self, port: KubePort) -> Elector:
        lease = self._config.lease
        return Elector(
            port,
            self._clock,
            namespace=self._config.operator_namespace,
            name=lease.name,
            identity=self._env.identity,
            terms=Terms(
                duration=lease.duration_seconds,
                renew=lease.renew_seconds,
                interval=lease.interval_seconds,
                retry=lease.retry_seconds,
            ),
            random=self._env.random,
        )

    def _effects(self, port: KubePort, client: httpx.AsyncClient) -> Effects:
        return Effects(
            port=port,
            store=self._store,
            clock=self._clock,
            minter=self._keys,
            probe=HttpIdleProbe(client, self._keys, self._env.new_id),
            events=EventRecorder(port, self._metrics, self._env.identity),
            metrics=self._metrics,
            settings=lambda: self._config.plan_settings(self._keys.jwks),
            prepared=frozenset(self._config.run_namespaces),
        )
