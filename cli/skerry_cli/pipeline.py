"""`skerry pipeline`: which middlewares a profile's runs have, in order, and why; from its file alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from skerry_api.agentprofile import AgentProfile
from skerry_api.resolve import sketch
from skerry_cli.inputs import read_documents
from skerry_cli.profiles import one_profile

if TYPE_CHECKING:
    from skerry_runner.listing import ListedRow

__all__ = ["show_pipeline"]

BAD_INPUT = 2


def show_pipeline(file: str, *, as_json: bool) -> int:
    """Print the rows; the exit code."""
    documents, problems = read_documents((file,))
    profile = problems or one_profile(file, documents)
    if not isinstance(profile, AgentProfile):
        for problem in profile:
            print(problem.text(), file=sys.stderr)
        return BAD_INPUT
    from skerry_runner.compose.rows import PipelineError
    from skerry_runner.listing import listing
    from skerry_runner.outcome import InvalidDocument

    try:
        rows = listing(sketch(profile))
    except InvalidDocument as error:
        return _refuse(file, profile, error.outcome.message)
    except PipelineError as error:
        return _refuse(file, profile, f"spec.pipeline.custom: {error}")
    print(json.dumps([asdict(row) for row in rows], indent=2) if as_json else _table(rows))
    return 0


def _refuse(file: str, profile: AgentProfile, words: str) -> int:
    print(f"{file}: AgentProfile {profile.metadata.name}: {words}", file=sys.stderr)
    return BAD_INPUT


def _hooks(row: ListedRow) -> str:
    return "?" if row.hooks is None else ", ".join(row.hooks) or "-"


def _table(rows: Sequence[ListedRow]) -> str:
    lines = [("NAME", "PRESENT", "HOOKS", "REASON")]
    lines += [(row.name, "yes" if row.present else "no", _hooks(row), row.reason) for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "   ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
