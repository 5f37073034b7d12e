"""`skerry validate`: manifests in, every fault with file, line, object and field out."""

from __future__ import annotations

import sys

from skerry_cli.inputs import read_documents
from skerry_runner.local.validate import validate

__all__ = ["validate_files"]

BAD_INPUT = 2


def validate_files(files: tuple[str, ...]) -> int:
    """Print the problems; the exit code."""
    documents, problems = read_documents(files)
    verdict = validate(documents)
    lines = [problem.text() for problem in (*problems, *verdict.problems)]
    if not lines and not verdict.checked:
        lines = [f"{', '.join(files)}: no object of Skerry in it"]
    for line in lines:
        print(line, file=sys.stderr)
    if lines:
        return BAD_INPUT
    others = f", {verdict.others} of other kinds not looked at" if verdict.others else ""
    print(f"{verdict.checked} good{others}")
    return 0
