"""The files of the command line, read whole; what cannot be read is a problem like any other."""

from __future__ import annotations

import sys
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from skerry_api.files import FileName
from skerry_api.problems import Problem
from skerry_api.rules import RULES
from skerry_runner.files import GivenFile
from skerry_runner.local.yamldoc import Document, FileProblem, parse_documents

__all__ = ["read_documents", "read_files", "read_script"]

STDIN = "-"
_SUFFIXES = {".yaml", ".yml", ".json"}


def read_documents(files: tuple[str, ...]) -> tuple[list[Document], list[FileProblem]]:
    documents: list[Document] = []
    problems: list[FileProblem] = []
    for file in (each for given in files for each in _expanded(given)):
        text = _text(file)
        if isinstance(text, FileProblem):
            problems.append(text)
            continue
        found, faults = parse_documents(file, text)
        documents += found
        problems += faults
    return documents, problems


def _expanded(given: str) -> list[str]:
    """A directory stands for its manifests, not for those of its folders, as with kubectl; in order of their names."""
    if given == STDIN or not Path(given).is_dir():
        return [given]
    return sorted(str(path) for path in Path(given).iterdir() if path.suffix in _SUFFIXES and path.is_file())


def read_script(path: Path | None) -> tuple[tuple[str, str] | None, list[FileProblem]]:
    if path is None:
        return None, []
    text = _text(str(path))
    return (None, [text]) if isinstance(text, FileProblem) else ((str(path), text), [])


def read_files(options: tuple[str, ...]) -> tuple[tuple[GivenFile, ...], list[FileProblem]]:
    """The files of `--file NAME=PATH`."""
    files: list[GivenFile] = []
    problems: list[FileProblem] = []
    for option in options:
        name, equals, path = option.partition("=")
        fault = _name_fault(name) if equals and path else "must be NAME=PATH"
        if fault is None and name in {file.name for file in files}:
            fault = f"there is another file named {name}"
        if fault is not None:
            problems.append(FileProblem(f"--file {option}", None, "", Problem("", fault)))
            continue
        try:
            files.append(GivenFile(name, Path(path).read_bytes()))
        except OSError as error:
            problems.append(FileProblem(path, None, "", Problem("", error.strerror or str(error))))
    return tuple(files), problems


def _name_fault(name: str) -> str | None:
    """Why the API would not take this name."""
    try:
        TypeAdapter(FileName).validate_python(name)
    except ValidationError:
        return "NAME must have 1 to 128 characters, no slash and no control character"
    rule = RULES["file-name"]
    return None if rule.holds(name, None) else f"NAME {rule.message}"


def _text(file: str) -> str | FileProblem:
    try:
        return sys.stdin.read() if file == STDIN else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        return FileProblem(file, None, "", Problem("", error.strerror or str(error)))
    except UnicodeDecodeError:
        return FileProblem(file, None, "", Problem("", "not UTF-8"))
