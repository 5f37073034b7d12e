"""The question with which a local run stopped: what `--answer` needs to go on with that run, in the thread's folder."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from pydantic import ValidationError

from skerry_api.agentrun import AgentRun
from skerry_api.base import KubeModel, Time
from skerry_api.phases import RunPhase
from skerry_api.report import Question

__all__ = ["FILE", "OpenQuestion", "keep", "open_question"]

FILE = "question.json"


class OpenQuestion(KubeModel):
    """`run` is the UID; `since` when it was asked; `paused_seconds` what people took for earlier ones."""

    run: str
    epoch: int
    question: Question
    started: Time
    since: Time
    paused_seconds: int = 0

    def paused_until(self, now: datetime) -> int:
        """Seconds that the run has waited in all, if its answer comes now."""
        return self.paused_seconds + max(0, int((now - self.since).total_seconds()))


def open_question(folder: Path) -> OpenQuestion | None:
    """The thread's open question; a file that makes no sense is none."""
    try:
        return OpenQuestion.model_validate_json((folder / FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None


def keep(folder: Path, run: AgentRun) -> None:
    """Write down the question that the run ended with, or that there is none. Raises OSError."""
    status, path = run.status, folder / FILE
    asked = status.runner.question if status.runner else None
    if (
        status.phase is not RunPhase.AWAITING_INPUT
        or asked is None
        or not (status.start_time and status.paused_since)
    ):
        path.unlink(missing_ok=True)
        return
    found = OpenQuestion(
        run=run.metadata.uid,
        epoch=status.epoch or 1,
        question=asked,
        started=status.start_time,
        since=status.paused_since,
        paused_seconds=status.paused_seconds or 0,
    )
    part = path.with_suffix(".part")
    part.write_text(found.model_dump_json(by_alias=True, exclude_none=True), encoding="utf-8")
    part.replace(path)
