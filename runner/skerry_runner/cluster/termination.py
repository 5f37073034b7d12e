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
    """The report as JSON of at most TERMINATION_MAX bytes: todos go first, then the oldest artifacts, then parts of the
    question, then answer, the journal's fault, message and endpoint are cut.
    """
    if report.progress is not None and report.progress.todos and _excess(report) > 0:
        report = report.model_copy(update={"progress": report.progress.model_copy(update={"todos": None})})
    report = _with_fewer_artifacts(report)
    report = _with_shorter_question(report)
    # A byte of text is at least a byte of JSON, so cutting the excess off once is enough (or all there is).
    for field in ("answer", "journal_fault"):
        text = getattr(report, field)
        if (excess := _excess(report)) > 0 and text:
            report = report.model_copy(update={field: _shorter(text, excess) or None})
    for field in ("message", "endpoint"):
        text = getattr(report.outcome, field)
        if (excess := _excess(report)) > 0 and text:
            shorter = _shorter(text, excess)
            report = report.model_copy(update={"outcome": report.outcome.model_copy(update={field: shorter})})
    return _json(report)


def _with_fewer_artifacts(report: TerminationReport) -> TerminationReport:
    """Status has had most of them by now, as they were presented."""
    while report.artifacts and _excess(report) > 0:
        report = report.model_copy(update={"artifacts": report.artifacts[1:] or None})
    return report


def _with_shorter_question(report: TerminationReport) -> TerminationReport:
    """What a question can do without: its id alone names what is answered."""
    for news in ({"context": None}, {"options": ()}):
        if report.question is not None and _excess(report) > 0:
            report = report.model_copy(update={"question": report.question.model_copy(update=news)})
    if report.question is not None and report.question.text and (excess := _excess(report)) > 0:
        shorter = {"text": _shorter(report.question.text, excess)}
        report = report.model_copy(update={"question": report.question.model_copy(update=shorter)})
    return report


def write_termination_message(path: Path, report: TerminationReport) -> None:
    """Write the message; a failure is logged, since status is the first way."""
    try:
        path.write_text(termination_message(report))
    except OSError as error:
        log.warning("no termination message: %s", error)
