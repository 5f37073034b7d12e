"""The files of the command line, read whole; what cannot be read is a problem like any other."""

from __future__ import annotations

import sys
from pathlib import Path

from skerry_api.problems import Problem
from skerry_runner.local.yamldoc import Document, FileProblem, parse_documents

__all__ = ["read_documents", "read_script"]

STDIN = "-"


def read_documents(files: tuple[str, ...]) -> tuple[list[Document], list[FileProblem]]:
    documents: list[Document] = []
    problems: list[FileProblem] = []
    for file in files:
        text = _text(file)
        if isinstance(text, FileProblem):
            problems.append(text)
            continue
        found, faults = parse_documents(file, text)
        documents += found
        problems += faults
    return documents, problems


def read_script(path: Path | None) -> tuple[tuple[str, str] | None, list[FileProblem]]:
    if path is None:
        return None, []
    text = _text(str(path))
    return (None, [text]) if isinstance(text, FileProblem) else ((str(path), text), [])


def _text(file: str) -> str | FileProblem:
    try:
        return sys.stdin.read() if file == STDIN else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        return FileProblem(file, None, "", Problem("", error.strerror or str(error)))
    except UnicodeDecodeError:
        return FileProblem(file, None, "", Problem("", "not UTF-8"))
