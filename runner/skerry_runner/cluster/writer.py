"""Brings the newest report into status: one writer, coalescing, paced, retrying as long as the run goes on."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, wait_exponential_jitter

from skerry_runner.cluster.pace import Pace, due_in, worth_retrying
from skerry_runner.cluster.port import ApiError, ApiUnauthorized, RunPort
from skerry_runner.cluster.report import Report

__all__ = ["Refused", "StatusWriter"]

log = logging.getLogger(__name__)


class Refused(Exception):
    """The API server will not take the report, now or later."""


class StatusWriter:
    """Holds the report as it should be and sees to it that status becomes so.

    `run` is the only one that writes; it must be running for the others to get anywhere. `named` says whether
    the run's status names this Pod.
    """

    def __init__(
        self,
        port: RunPort,
        first: Report,
        pace: Pace,
        *,
        named: Callable[[], bool],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._port, self._pace, self._named, self._now = port, pace, named, monotonic
        self._began = monotonic()
        self._report = first
        self._version = self._settled = 0
        self._urgent = False
        self._written: float | None = None
        self._unauthorized: float | None = None
        """Since when every answer was 401."""
        self._refusal: ApiError | None = None
        self._wake, self._hurry = asyncio.Event(), asyncio.Event()
        self._news = asyncio.Condition()

    @property
    def report(self) -> Report:
        """The report as it should stand in status."""
        return self._report

    def update(self, report: Report, *, urgent: bool = False) -> None:
        """Say something new. Never blocks; unchanged says nothing unless urgent."""
        if report == self._report and not urgent:
            return
        self._report = report
        self._version += 1
        self._urgent |= urgent
        self._wake.set()
        if urgent:
            self._hurry.set()

    async def deliver(self, report: Report) -> None:
        """Say something new and return once status has it. Raises Refused."""
        self.update(report, urgent=True)
        version = self._version
        async with self._news:
            await self._news.wait_for(lambda: self._settled >= version)
        if self._refusal is not None:
            raise Refused(str(self._refusal)) from self._refusal

    async def run(self) -> None:
        """Write whenever a report is due, until cancelled."""
        while True:
            due = due_in(
                changed=self._version > self._settled, urgent=self._urgent, written=self._written,
                now=self._now(), pace=self._pace,
            )  # fmt: skip
            if due == 0:
                await self._write()
            else:
                await _set_or_after(self._wake, due)

    async def _write(self) -> None:
        version = self._version
        try:
            async for attempt in AsyncRetrying(
                retry=retry_if_exception(self._worth_retrying),
                wait=wait_exponential_jitter(
                    multiplier=self._pace.backoff_first,
                    max=self._pace.backoff_most,
                    jitter=self._pace.backoff_first,
                ),
                sleep=self._back_off,
                before_sleep=_log_retry,
                reraise=True,
            ):
                with attempt:
                    # Each try carries the newest: what was said while we waited goes along.
                    version, self._urgent = self._version, False
                    self._hurry.clear()
                    await self._port.apply_status(self._report.wire())
            self._refusal = self._unauthorized = None
        except ApiError as error:
            log.error("the report was refused: %s", error)  # noqa: TRY400 - expected, and the trace says nothing
            self._refusal = error
        self._written = self._now()
        async with self._news:
            self._settled = version
            self._news.notify_all()

    def _worth_retrying(self, error: BaseException) -> bool:
        now = self._now()
        if not isinstance(error, ApiUnauthorized):
            self._unauthorized = None
        elif self._unauthorized is None:
            self._unauthorized = now
        return worth_retrying(
            error,
            named=self._named(),
            running_for=now - self._began,
            unauthorized_for=0 if self._unauthorized is None else now - self._unauthorized,
            pace=self._pace,
        )

    async def _back_off(self, seconds: float) -> None:
        # An urgent report must not sit out a long back-off; mere progress does not shorten it.
        await _set_or_after(self._hurry, seconds)


async def _set_or_after(event: asyncio.Event, seconds: float | None) -> None:
    """Return when the event is set, which clears it, or after so many seconds (None: no limit)."""
    try:
        await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return
    event.clear()


def _log_retry(state: RetryCallState) -> None:
    error = state.outcome.exception() if state.outcome else None
    log.warning("report not delivered (attempt %d): %s", state.attempt_number, error)
