"""One epoch of one run, from the mounted document to the last report. Effects come in as arguments."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Protocol
from uuid import uuid4

from skerry_api.document import RunDocument
from skerry_api.persistence import PersistenceType
from skerry_api.phases import OutcomeClass
from skerry_api.privacy import Privacy
from skerry_api.report import Outcome
from skerry_runner.cluster.assignment import InvalidDocument, read_assignment
from skerry_runner.cluster.environment import Environment
from skerry_runner.cluster.givenfiles import UnreadableFiles, read_files
from skerry_runner.cluster.mountedskills import UnreadableSkill, read_skills
from skerry_runner.cluster.own_run import OwnRun, read_run
from skerry_runner.cluster.pace import Pace
from skerry_runner.cluster.port import ApiUnauthorized, RunPort
from skerry_runner.cluster.questions import ClusterQuestions
from skerry_runner.cluster.report import seed
from skerry_runner.cluster.reporter import ClusterReporter
from skerry_runner.cluster.sandboxes import ClusterSandboxes
from skerry_runner.cluster.standing import Standing
from skerry_runner.cluster.view import RunView, unknown
from skerry_runner.cluster.writer import StatusWriter
from skerry_runner.journal import OnFault
from skerry_runner.outcome import app_error, cancelled
from skerry_runner.ports import (
    Cancellation,
    CancelReason,
    Clock,
    JournalPort,
    NewId,
    Ports,
    RunResult,
)

__all__ = ["CarryOut", "ClosingJournal", "OpenJournal", "Session"]

log = logging.getLogger(__name__)

CarryOut = Callable[[RunDocument, Ports], Awaitable[RunResult]]


class ClosingJournal(JournalPort, Protocol):
    async def close(self) -> None: ...


OpenJournal = Callable[[RunDocument, OnFault], ClosingJournal]
"""Called in a thread: may block."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _uuid() -> str:
    return str(uuid4())


@dataclass(frozen=True)
class Session:
    """What one epoch needs from outside. `terminated` is set by SIGTERM, at any moment."""

    env: Environment
    port: RunPort
    carry_out: CarryOut
    open_journal: OpenJournal
    terminated: asyncio.Event
    pace: Pace = field(default_factory=Pace)
    redact: Callable[[str], str] = str
    """For the words of a fault of the process itself; the core redacts its own."""
    clock: Clock = _utc_now
    new_id: NewId = _uuid

    async def run(self) -> Outcome:
        """Carry the epoch out; how it ended. Raises only what is a fault of the process itself."""
        document: RunDocument | None = None
        fault: InvalidDocument | None = None
        try:
            document = read_assignment(self.env.document, self.env.identity)
        except InvalidDocument as error:
            fault = error
        view = await self._first_view()
        run_uid = document.run.uid if document else view.uid
        standing = Standing(OwnRun(self.port, view, self.pace), self.env.identity, run_uid)
        cancellation = Cancellation()
        privacy = document.privacy if document else Privacy.FULL  # without a document there are no texts
        writer = StatusWriter(
            self.port, seed(view, self.env.identity, privacy), self.pace, named=lambda: standing.named
        )
        reporter = ClusterReporter(
            writer, standing, self.pace, cancellation=cancellation, terminated=self.terminated,
            termination_log=self.env.termination_log,
        )  # fmt: skip
        async with asyncio.TaskGroup() as group:
            helpers = [
                group.create_task(_follow(standing.own, cancellation)),
                group.create_task(writer.run()),
                group.create_task(standing.relay(cancellation)),
                group.create_task(self._relay_sigterm(cancellation)),
            ]
            try:
                if document is None:
                    return await _refuse("InvalidDocument", fault, reporter)
                return await self._carry_out(document, standing, reporter, cancellation)
            finally:
                for helper in helpers:
                    helper.cancel()

    async def _first_view(self) -> RunView:
        """The run as it stands; as unknown as possible when SIGTERM comes before the API server answers."""
        reading = asyncio.create_task(read_run(self.port, self.pace))
        leaving = asyncio.create_task(self.terminated.wait())
        await asyncio.wait((reading, leaving), return_when=asyncio.FIRST_COMPLETED)
        leaving.cancel()
        if reading.done():
            return reading.result()
        reading.cancel()
        return unknown()

    async def _relay_sigterm(self, cancellation: Cancellation) -> None:
        await self.terminated.wait()
        cancellation.request(CancelReason.INTERRUPTED)

    async def _carry_out(
        self,
        document: RunDocument,
        standing: Standing,
        reporter: ClusterReporter,
        cancellation: Cancellation,
    ) -> Outcome:
        if standing.fenced:
            log.warning("the run belongs to another Pod, or has ended: nothing to do")
            return cancelled(CancelReason.FENCED)
        try:
            files = await asyncio.to_thread(read_files, standing.own.view.spec, self.env.files)
            skills = await asyncio.to_thread(read_skills, document.skills, self.env.skills)
        except UnreadableFiles as error:
            return await _refuse("InvalidFiles", error, reporter)
        except UnreadableSkill as error:
            return await _refuse("InvalidSkills", error, reporter)
        loop = asyncio.get_running_loop()

        def on_fault(fault: str | None) -> None:
            loop.call_soon_threadsafe(reporter.journal_faulty, fault)

        # Its volume may be slow, and hold much that is to go first.
        journal = await asyncio.to_thread(self.open_journal, document, on_fault)
        sandboxes = ClusterSandboxes(document, standing.own, reporter)
        ports = Ports(
            reporter=reporter, sandboxes=sandboxes, journal=journal, cancellation=cancellation,
            clock=self.clock, new_id=self.new_id, files=files, skills=skills,
            questions=ClusterQuestions(
                standing.own, reporter, in_place=document.persistence is PersistenceType.EPHEMERAL
            ),
        )  # fmt: skip
        try:
            return (await self.carry_out(document, ports)).outcome
        except Exception as error:
            # The core reports the run's own faults; this is one of ours, and the run still has to end.
            log.exception("the runner failed")
            outcome = app_error(type(error).__name__, self.redact(str(error)) or type(error).__name__)
            await journal.flush()  # what is wrong with it belongs into the last report
            await reporter.ended(RunResult(outcome=outcome))
            return outcome
        finally:
            await sandboxes.release()
            await journal.close()


async def _follow(own: OwnRun, cancellation: Cancellation) -> None:
    """Deaf to cancel, suspend and answers this Pod is of no use; what becomes of the run is the operator's to say."""
    try:
        await own.follow()
    except ApiUnauthorized as error:
        log.error("the token of this Pod is taken no more, so the epoch ends: %s", error)  # noqa: TRY400 - the words say all
        cancellation.request(CancelReason.INTERRUPTED)


async def _refuse(reason: str, fault: Exception | None, reporter: ClusterReporter) -> Outcome:
    log.error("%s", fault)
    outcome = Outcome(class_=OutcomeClass.INVALID_SPEC, reason=reason, message=str(fault)[:2048])
    await reporter.ended(RunResult(outcome=outcome))
    return outcome
