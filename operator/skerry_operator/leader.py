"""Leader election: keeps the Lease, and knows at any moment whether this process may write.

`leads()` is true until `renew` seconds after the *start* of the last renewal that succeeded; others wait `duration`
seconds after they saw it. A hung API or a paused process therefore ends leadership by itself, and `patience()` is how
long a write that is begun now may take to be over before anybody else can lead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog

from skerry_operator.clock import Clock, TimerHandle, within
from skerry_operator.errors import AlreadyExists, Conflict, KubeError
from skerry_operator.kube.kinds import LEASE, Raw
from skerry_operator.kube.port import KubePort
from skerry_operator.lease import Create, Seen, Terms, Wait, decide, lease_body, observe, pause

__all__ = ["Elector"]

_log = structlog.get_logger(__name__)
_NEVER = float("-inf")
T = TypeVar("T")


class Elector:
    """One contender. `identity` is unique among processes that may live at the same time.

    A container that was restarted in its Pod may use the same identity again (its predecessor is dead) and then
    leads at once.
    """

    def __init__(
        self,
        port: KubePort,
        clock: Clock,
        *,
        namespace: str,
        name: str,
        identity: str,
        terms: Terms,
        random: Callable[[], float],
    ) -> None:
        """`port` must not be fenced. `random` gives floats in [0, 1)."""
        self._port = port
        self._clock = clock
        self._namespace = namespace
        self._name = name
        self._identity = identity
        self._terms = terms
        self._random = random
        self._deadline = _NEVER
        self._lease: Raw | None = None
        self._seen: Seen | None = None
        self._alarm: TimerHandle | None = None
        self._leading = asyncio.Event()
        self._lost = asyncio.Event()
        self._lost.set()

    def leads(self) -> bool:
        """Whether writes may be sent now."""
        return self._clock.monotonic() < self._deadline

    def patience(self) -> float:
        """Seconds within which a write that begins now must have ended; 0: none may begin."""
        slack = self._terms.duration - self._terms.renew
        return self._deadline + slack - self._clock.monotonic() if self.leads() else 0.0

    async def wait_leading(self) -> None:
        await self._leading.wait()

    async def wait_lost(self) -> None:
        await self._lost.wait()

    async def run(self) -> None:
        """Contend until cancelled."""
        while True:
            renewed = await self._round()
            self._settle()
            now = self._clock.monotonic()
            seen = None if renewed or self.leads() else self._seen
            await self._clock.sleep(
                pause(seen, renewed=renewed, now=now, terms=self._terms, random=self._random())
            )
            self._settle()

    async def release(self) -> None:
        """Give the Lease up, so that the next needs not wait; afterwards nothing may be written."""
        was_leading, self._deadline = self.leads(), _NEVER
        self._settle()
        if not was_leading or self._lease is None:
            return
        body = self._body(self._lease, "")
        try:
            await within(
                self._clock,
                self._terms.retry,
                self._port.replace(LEASE, self._namespace, self._name, body),
            )
            _log.info("lease released", identity=self._identity)
        except (KubeError, TimeoutError) as error:
            _log.warning("lease not released: others wait for its end", error=str(error))

    async def _round(self) -> bool:
        """One attempt to take or renew, and whether it did; whatever fails leaves the deadline where it is."""
        started = self._clock.monotonic()
        try:
            if not self.leads():
                await self._look()
            step = decide(self._seen, self._identity, self._clock.monotonic())
            if isinstance(step, Wait):
                return False
            before = None if isinstance(step, Create) else self._lease
            body = self._body(before, self._identity)
            if before is None:
                written = await self._call(self._port.create(LEASE, self._namespace, body))
            else:
                written = await self._call(self._port.replace(LEASE, self._namespace, self._name, body))
        except (Conflict, AlreadyExists):
            await self._after_conflict()
        except (KubeError, TimeoutError) as error:
            _log.warning("lease attempt failed", error=str(error) or "timeout", leads=self.leads())
        else:
            self._note(written)
            self._lead_until(started + self._terms.renew)
            return True
        return False

    def _lead_until(self, deadline: float) -> None:
        self._deadline = deadline
        if self._alarm is not None:
            self._alarm.cancel()
        # A call that hangs must not keep the end of leadership from being told.
        self._alarm = self._clock.call_later(deadline - self._clock.monotonic() + 0.01, self._settle)

    async def _after_conflict(self) -> None:
        """Somebody else wrote: read who. A renewal of ours whose answer was lost also ends here, and stays ours."""
        try:
            await self._look()
        except (KubeError, TimeoutError) as error:
            _log.warning("lease cannot be read", error=str(error) or "timeout", leads=self.leads())
            return
        if self._seen is None or self._seen.holder != self._identity:
            self._deadline = _NEVER

    async def _look(self) -> None:
        lease = await self._call(self._port.get(LEASE, self._namespace, self._name))
        if lease is None:
            self._lease = self._seen = None
        else:
            self._note(lease)

    def _note(self, lease: Raw) -> None:
        self._lease = lease
        self._seen = observe(self._seen, lease, self._clock.monotonic(), self._terms)

    async def _call(self, call: Awaitable[T]) -> T:
        return await within(self._clock, self._terms.renew / 3, call)  # one that hangs leaves time for others

    def _body(self, before: Raw | None, identity: str) -> Raw:
        return lease_body(
            before,
            namespace=self._namespace,
            name=self._name,
            identity=identity,
            now=self._clock.now(),
            terms=self._terms,
        )

    def _settle(self) -> None:
        """Tell those who wait when leadership began or ended."""
        leads = self.leads()
        if leads and not self._leading.is_set():
            _log.info("leading", identity=self._identity)
            self._lost.clear()
            self._leading.set()
        elif not leads and self._leading.is_set():
            _log.warning("no longer leading", identity=self._identity)
            self._leading.clear()
            self._lost.set()
