"""The Reporter of a cluster: the core's news into the run's status, the end also into the termination message."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

from typing_extensions import override

from skerry_api.privacy import Privacy
from skerry_api.report import Progress, Question, RunArtifact, SandboxRequest, TerminationReport, Usage
from skerry_runner.cluster.pace import Pace
from skerry_runner.cluster.privacy import by_reference
from skerry_runner.cluster.report import Report
from skerry_runner.cluster.standing import Standing
from skerry_runner.cluster.termination import write_termination_message
from skerry_runner.cluster.writer import Refused, StatusWriter
from skerry_runner.outcome import app_error
from skerry_runner.ports import Cancellation, CancelReason, Reporter, RunResult

__all__ = ["ClusterReporter"]

log = logging.getLogger(__name__)


class ClusterReporter(Reporter):
    """Reports one epoch; `terminated` is set by SIGTERM and shortens the wait of the last report."""

    def __init__(
        self,
        writer: StatusWriter,
        standing: Standing,
        pace: Pace,
        *,
        cancellation: Cancellation,
        terminated: asyncio.Event,
        termination_log: Path,
    ) -> None:
        self._writer, self._standing, self._pace = writer, standing, pace
        self._cancellation, self._terminated, self._log = cancellation, terminated, termination_log
        self._refusal: str | None = None

    @override
    async def started(self) -> None:
        self._writer.update(self._writer.report, urgent=True)

    @override
    def progress(
        self, progress: Progress, usage: Usage, artifacts: tuple[RunArtifact, ...] | None = None
    ) -> None:
        self._writer.update(self._writer.report.counted(progress, usage, artifacts))

    @override
    async def first_tool_call(self, progress: Progress, usage: Usage) -> None:
        await self._deliver_or_stop(self._writer.report.counted(progress, usage))

    def journal_faulty(self, fault: str | None) -> None:
        """Lines are missing in the journal, and why; None once they are all there."""
        self._writer.update(self._writer.report.journal(fault))

    async def ask_for_sandbox(self, request: SandboxRequest) -> None:
        """Publish the request; returns once it stands in status."""
        await self._deliver_or_stop(self._writer.report.asking(request))

    async def ask_people(self, question: Question) -> None:
        """Publish the question; returns once it stands in status."""
        await self._deliver_or_stop(self._writer.report.awaiting(question))

    def answered(self) -> None:
        """The question leaves status."""
        self._writer.update(self._writer.report.awaiting(None), urgent=True)

    @override
    async def sandbox_acquired(self, sandbox_id: str) -> None:
        self._writer.update(self._writer.report.working_in(sandbox_id), urgent=True)

    @override
    async def ended(self, result: RunResult) -> None:
        """Deliver the end, or give up: fenced, out of time, or refused. Returns in all cases."""
        if self._standing.fenced:
            log.warning("the run belongs to another Pod, or has ended: no report")
            return
        if self._refusal is not None:
            result = replace(result, outcome=app_error("ReportRefused", self._refusal))
        # First the way that needs no server: the kubelet may kill us while we wait for one.
        write_termination_message(self._log, self._short(result))
        await _first_of(self._last_words(result), self._standing.until_fenced(), self._patience())

    async def _deliver_or_stop(self, report: Report) -> None:
        """Deliver what the run can't go on without; if it is refused for good, the run is stopped."""
        try:
            await self._writer.deliver(report)
        except Refused as error:
            self._refusal = f"the API server refuses the runner's reports: {error}"
            self._cancellation.request(CancelReason.INTERRUPTED)
            await asyncio.get_running_loop().create_future()

    async def _last_words(self, result: RunResult) -> None:
        try:
            await self._writer.deliver(self._writer.report.ended(result))
        except Refused as error:
            log.error("the termination message must do: %s", error)  # noqa: TRY400 - the words say all

    async def _patience(self) -> None:
        """Return when the last report has been tried for long enough."""
        try:
            async with asyncio.timeout(self._pace.final):
                await self._terminated.wait()
                await asyncio.sleep(self._pace.leaving)
        except TimeoutError:
            pass
        log.error("the last report was not delivered in time: the termination message must do")

    def _short(self, result: RunResult) -> TerminationReport:
        told = TerminationReport(
            run_uid=self._standing.run_uid,
            epoch=self._standing.identity.epoch,
            outcome=result.outcome,
            stop_reason=result.stop_reason,
            progress=self._writer.report.further(result.progress),
            usage=result.usage,
            question=result.question,
            answer=result.answer,
            artifacts=result.artifacts,
            # Not of the result: the journal tells of it by itself, up to its last flush before this.
            journal_fault=self._writer.report.runner.journal_fault,
        )
        return told if self._writer.report.privacy is Privacy.FULL else by_reference(told, result.answer_id)


async def _first_of(*ways: Coroutine[Any, Any, object]) -> None:
    tasks = [asyncio.ensure_future(way) for way in ways]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
