"""Prints how a local run ended: results on stdout, words about them on stderr."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import yaml

from skerry_api.agentrun import AgentRun
from skerry_api.phases import RunPhase
from skerry_cli.asking import question_text
from skerry_cli.output import Output

__all__ = ["show"]


def show(run: AgentRun, output: Output, folder: Path) -> None:
    """Print the run as asked for; `folder` is the thread's."""
    match output:
        case Output.TEXT:
            _show_text(run, folder)
        case Output.JSON:
            print(json.dumps(_wire(run), indent=2, ensure_ascii=False))
        case Output.YAML:
            print(yaml.safe_dump(_wire(run), sort_keys=False, allow_unicode=True), end="")


def _wire(run: AgentRun) -> dict[str, Any]:
    """As the API server would show it: metadata without what is not set."""
    wire = run.wire()
    wire["metadata"] = {key: value for key, value in wire["metadata"].items() if value}
    return wire


def _show_text(run: AgentRun, folder: Path) -> None:
    status = run.status
    if status.runner is not None and status.runner.answer:
        print(status.runner.answer)
    if status.runner is not None and status.runner.question:
        print(question_text(status.runner.question))
    end = status.phase.value if status.phase else "?"
    reason = f" ({status.stop_reason.value})" if status.stop_reason else ""
    failure = f": {status.failure.class_.value}: {status.failure.message}" if status.failure else ""
    print(f"{end}{reason}{failure}", file=sys.stderr)
    if status.phase is RunPhase.AWAITING_INPUT:
        print(f"answer with the same files and: --thread {status.thread_id} --answer TEXT", file=sys.stderr)
    if status.sandbox_id:
        print(f"files: {folder / 'user-data'}", file=sys.stderr)
