"""Assignment: carry out one run document to its end. Boot (the heavy imports) is a step of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from skerry_runner.ports import Ports, RunResult

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from skerry_api.document import RunDocument

__all__ = ["boot", "run_document"]


def boot() -> None:
    """Import what a run needs (about a second of CPU), before anyone knows which run it will be."""
    raise NotImplementedError


async def run_document(
    document: RunDocument,
    ports: Ports,
    *,
    api_key: str | None = None,
    checkpointer: BaseCheckpointSaver[str] | None = None,
) -> RunResult:
    """Run the agent; report started, progress and ended. Never raises for the run's own faults.

    `ports.cancellation` stops it: executions are killed and the outcome is Cancelled or Interrupted.
    """
    raise NotImplementedError
