"""One run on this machine, from its assignment to its final status. Effects come in as arguments."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

from skerry_api.agentrun import AgentRun
from skerry_api.document import RunDocument
from skerry_runner.local.assignment import Assignment
from skerry_runner.local.edges import LocalQuestions, LocalReporter, LocalSandboxes
from skerry_runner.local.openquestion import OpenQuestion
from skerry_runner.local.status import Times, ended
from skerry_runner.outcome import app_error
from skerry_runner.ports import Cancellation, CancelReason, Clock, JournalPort, NewId, Ports, RunResult

__all__ = ["CarryOut", "execute"]

log = logging.getLogger(__name__)
CarryOut = Callable[[RunDocument, Ports], Awaitable[RunResult]]


async def execute(
    assignment: Assignment,
    folder: Path,
    *,
    carry_out: CarryOut,
    journal: JournalPort,
    stop: asyncio.Event,
    clock: Clock,
    new_id: NewId,
    resumes: OpenQuestion | None = None,
) -> AgentRun:
    """Carry the run out in the thread's `folder`; the run with its final status.

    `stop` cancels it. `resumes`: the question with which the run stopped before, which its spec now answers. The active deadline, which the operator keeps in a cluster, is kept here.
    """
    cancellation = Cancellation()
    sandboxes = LocalSandboxes(assignment.document.sandbox, folder / "user-data")
    ports = Ports(
        reporter=LocalReporter(), sandboxes=sandboxes, journal=journal, cancellation=cancellation,
        clock=clock, new_id=new_id, files=assignment.files, skills=assignment.skills,
        questions=LocalQuestions(assignment.run.spec.answers),
    )  # fmt: skip
    now = clock()
    started, paused = (resumes.started, resumes.paused_until(now)) if resumes else (now, 0)
    begun = Times(started, now, paused)
    seconds = assignment.run.spec.limits.active_deadline_seconds - begun.active_seconds
    watching = asyncio.create_task(_stop_in_time(stop, max(0.0, seconds), cancellation))
    try:
        result = await carry_out(assignment.document, ports)
    except Exception as error:
        # The core reports the run's own faults; this is one of ours, and the run still has an end.
        log.exception("the runner failed")
        result = RunResult(outcome=app_error(type(error).__name__, str(error) or type(error).__name__))
    finally:
        timed_out = watching.done() and not watching.cancelled() and watching.result()
        watching.cancel()
        await sandboxes.release()
    times = Times(started, clock(), paused)
    return ended(assignment, result, times, timed_out=timed_out)


async def _stop_in_time(stop: asyncio.Event, seconds: float, cancellation: Cancellation) -> bool:
    """Pass on the first reason to stop; whether it was the deadline."""
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        cancellation.request(CancelReason.CANCELLED)
        return True
    cancellation.request(CancelReason.CANCELLED)
    return False
