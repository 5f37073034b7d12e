"""The second way home: the outcome as the Pod's termination message, read when no status arrived.

The kubelet keeps 4096 bytes and cuts the rest off, which would leave JSON that nobody can read: so it is fitted.
"""

from __future__ import annotations

import logging
from pathlib import Path

from skerry_api.report import TERMINATION_MAX, TerminationReport
from skerry_runner.outcome import cut_bytes

__all__ = ["termination_message", "write_termination_message"]

log = logging.getLogger(__name__)


def _json(report: TerminationReport) -> str:
    return report.model_dump_json(by_alias=True, exclude_none=True)


def _excess(report: TerminationReport) -> int:
    return len(_json(report).encode()) - TERMINATION_MAX


def _shorter(text: str, excess: int) -> str:
    return cut_bytes(text, max(0, len(text.encode()) - excess))


def termination_message(report: TerminationReport) -> str:
    """The report as JSON of at most TERMINATION_MAX bytes: todos go first, then the answer is cut, then message, then endpoint."""
    if report.progress is not None and report.progress.todos and _excess(report) > 0:
        report = report.model_copy(update={"progress": report.progress.model_copy(update={"todos": None})})
    # A byte of text is at least a byte of JSON, so cutting the excess off once is enough (or all there is).
    if (excess := _excess(report)) > 0 and report.answer:
        answer = _shorter(report.answer, excess)
        report = report.model_copy(update={"answer": answer or None})
    for field in ("message", "endpoint"):
        text = getattr(report.outcome, field)
        if (excess := _excess(report)) > 0 and text:
            shorter = _shorter(text, excess)
            report = report.model_copy(update={"outcome": report.outcome.model_copy(update={field: shorter})})
    return _json(report)


def write_termination_message(path: Path, report: TerminationReport) -> None:
    """Write the message; a failure is logged, since status is the first way."""
    try:
        path.write_text(termination_message(report))
    except OSError as error:
        log.warning("no termination message: %s", error)
