"""Assignment: carry out one run document to its end. Boot (the heavy imports) is a step of its own."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from skerry_api.phases import OutcomeClass
from skerry_runner.events import RunEnd
from skerry_runner.outcome import app_error, cancelled
from skerry_runner.ports import Cancellation, CancelReason, Ports, RunResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from langgraph.checkpoint.base import BaseCheckpointSaver

    from skerry_api.document import RunDocument
    from skerry_runner.invocation import Invocation
    from skerry_runner.llm.calls import Breakers
    from skerry_runner.memory.runmemory import OpenStore
    from skerry_runner.persistence.opening import StatePlace

__all__ = ["CANCEL_GRACE_SECONDS", "boot", "run_document", "until_end"]

CANCEL_GRACE_SECONDS = 10.0
"""How long a cancelled agent may take to end its executions."""
log = logging.getLogger(__name__)


def boot() -> None:
    """Import what a run needs (about a second of CPU), before anyone knows which run it will be."""
    import skerry_runner.invocation  # noqa: F401 - the import is the point


async def run_document(
    document: RunDocument,
    ports: Ports,
    *,
    api_key: str | None = None,
    checkpointer: BaseCheckpointSaver[str] | None = None,
    breakers: Breakers | None = None,
    environ: Mapping[str, str] | None = None,
    place: StatePlace | None = None,
    open_memory: OpenStore | None = None,
) -> RunResult:
    """Run the agent; report started, progress and ended. Never raises for the run's own faults.

    `breakers` are the process's circuit breakers, for whoever carries out several runs. `environ` holds the headers
    of MCP servers, each under its `headers_env`. `place` is where state is kept, in memory if None; a
    `checkpointer` that is open already takes its place.
    `open_memory` opens the store of memories in another place than `place`.
    `ports.cancellation` stops it: executions are killed and the outcome is Cancelled or Interrupted.
    """
    await ports.reporter.started()
    await asyncio.to_thread(boot)
    from skerry_runner.invocation import Invocation

    invocation = Invocation(
        document,
        ports,
        api_key=api_key,
        checkpointer=checkpointer,
        breakers=breakers,
        files=ports.files,
        skills=ports.skills,
        environ=environ or {},
        place=place,
        open_memory=open_memory,
    )
    ports.journal.emit(invocation.start_event())
    async with invocation.session.hold():
        result = await until_end(invocation, ports.cancellation)
    if result.outcome.class_ is not OutcomeClass.AWAITING_INPUT:
        invocation.note_unused()  # in a pause the rest of the script is still to come
    ports.journal.emit(
        RunEnd(
            outcome=result.outcome,
            stop_reason=result.stop_reason,
            usage=result.usage,
            progress=result.progress,
            answer_chars=len(result.answer or ""),
        )
    )
    await ports.journal.flush()
    await ports.reporter.ended(result)
    return result


async def until_end(invocation: Invocation, cancellation: Cancellation) -> RunResult:
    """The agent's own result, or what a request to stop makes of it; on every way out the agent's task is over."""
    agent = asyncio.create_task(invocation.run(), name="agent")
    stop = asyncio.create_task(cancellation.wait(), name="stop")
    try:
        await asyncio.wait({agent, stop}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stop.cancel()
        if not agent.done():
            agent.cancel()
            await asyncio.wait({agent}, timeout=CANCEL_GRACE_SECONDS)
            if not agent.done():
                log.warning("the agent did not end within %g s of its cancellation", CANCEL_GRACE_SECONDS)
    result = agent.result() if agent.done() and not agent.cancelled() else None
    if cancellation.reason is None:
        return result or invocation.result(
            app_error("Cancelled", "the agent was cancelled by nobody we know")
        )
    # What ended well before it could be stopped has ended well; what failed while being stopped was stopped.
    if result is not None and result.outcome.class_ is OutcomeClass.SUCCEEDED:
        return result
    paused = result is not None and result.outcome.class_ is OutcomeClass.AWAITING_INPUT
    if result is not None and paused and cancellation.reason is CancelReason.INTERRUPTED:
        return result
    return invocation.result(cancelled(cancellation.reason))
