"""Which run this is: the document that the operator mounted, checked against the Pod's own name."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from skerry_api.document import RunDocument
from skerry_api.problems import Problem, problems_of
from skerry_runner.cluster.environment import Identity

__all__ = ["InvalidDocument", "parse_assignment", "read_assignment"]


class InvalidDocument(Exception):
    """The document cannot be used; `problems` holds every field at fault."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        super().__init__("; ".join(f"document {problem}" for problem in problems))
        self.problems = problems


def parse_assignment(text: str | bytes, identity: Identity) -> RunDocument:
    """Parse the document of this Pod. Raises InvalidDocument, also for another run's or epoch's document."""
    try:
        document = RunDocument.model_validate_json(text)
    except ValidationError as error:
        raise InvalidDocument(problems_of(error)) from error
    told = {"namespace": identity.namespace, "name": identity.run, "epoch": identity.epoch}
    found = {name: getattr(document.run, name) for name in told}
    problems = tuple(
        Problem(f"run.{name}", f"is {found[name]!r}, but this Pod's is {value!r}")
        for name, value in told.items()
        if found[name] != value
    )
    if problems:
        raise InvalidDocument(problems)
    return document


def read_assignment(path: Path, identity: Identity) -> RunDocument:
    """Read and parse the mounted document. Raises InvalidDocument."""
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InvalidDocument((Problem("", f"cannot be read: {error}"),)) from error
    return parse_assignment(text, identity)
