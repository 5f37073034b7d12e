"""YAML documents as Kubernetes reads them, each remembering the line of every field.

YAML 1.1 as PyYAML has it turns dates and 1:30 into other things than text; kubectl does not, so neither does this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from skerry_api.problems import Problem

__all__ = ["Document", "FileProblem", "parse_documents"]

NODES_MAX = 500_000
"""Most nodes of a document, aliases expanded: a page of nested aliases can stand for billions."""
_PART = re.compile(r"\[(\d+)\]|\.?([^.\[\]]+)")


class _Loader(yaml.SafeLoader):
    """SafeLoader with JSON's scalars: no dates, no base-60 numbers."""


_Loader.yaml_implicit_resolvers = {
    first: [
        (tag, pattern)
        for tag, pattern in resolvers
        if tag.rpartition(":")[2] not in {"timestamp", "int", "float"}
    ]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int",
    re.compile(r"^[-+]?(0|[1-9][0-9]*|0x[0-9a-fA-F]+|0o?[0-7]+)$"),
    list("-+0123456789"),
)
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?$"),
    list("-+0123456789."),
)


@dataclass(frozen=True)
class FileProblem:
    """A problem and where it stands: file, line (from 1, None if unknown), object (`Kind name`, if known)."""

    file: str
    line: int | None
    subject: str
    problem: Problem

    def text(self) -> str:
        """One line for people: `run.yaml:7: AgentRun r: spec.model.name: …`."""
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return ": ".join(part for part in (where, self.subject, str(self.problem)) if part)


@dataclass(frozen=True)
class Document:
    """One document of a file: its value, and the YAML node it came from."""

    file: str
    raw: Any
    node: Node

    @property
    def subject(self) -> str:
        """`Kind name`, as far as they can be read."""
        if not isinstance(self.raw, dict):
            return ""
        metadata = self.raw.get("metadata")
        name = metadata.get("name") if isinstance(metadata, dict) else None
        return " ".join(str(part) for part in (self.raw.get("kind"), name) if part)

    def line_of(self, path: str) -> int:
        """Line of the field, or of the nearest thing around it that exists."""
        node, line = self.node, _line(self.node)
        for index, name in _PART.findall(path):
            found = _item(node, int(index)) if index else _entry(node, name)
            if found is None:
                break
            at, node = found
            line = _line(at)
        return line

    def at(self, problem: Problem) -> FileProblem:
        return FileProblem(self.file, self.line_of(problem.path), self.subject, problem)


def _line(node: Node) -> int:
    return int(node.start_mark.line) + 1


def _item(node: Node, index: int) -> tuple[Node, Node] | None:
    if isinstance(node, SequenceNode) and index < len(node.value):
        return node.value[index], node.value[index]
    return None


def _entry(node: Node, name: str) -> tuple[Node, Node] | None:
    """Key and value: the key's line is the field's, the value may start on the next."""
    if isinstance(node, MappingNode):
        for key, value in node.value:
            if isinstance(key, ScalarNode) and key.value == name:
                return key, value
    return None


def parse_documents(file: str | Path, text: str) -> tuple[list[Document], list[FileProblem]]:
    """Every document of a text, and every problem of its YAML. Empty documents are left out. Never raises."""
    name = str(file)
    documents: list[Document] = []
    problems: list[FileProblem] = []
    try:
        for node in yaml.compose_all(text, Loader=_Loader):
            if _size(node, {}) > NODES_MAX:
                raise ValueError("too large once its aliases are expanded")  # noqa: TRY301 - one place tells
            raw = _Loader("").construct_document(node)
            if raw is None:
                continue
            document = Document(name, raw, node)
            documents.append(document)
            problems += [
                FileProblem(name, line, document.subject, Problem(path, "stands here twice"))
                for path, line in _twice(node, "")
            ]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + 1 if mark else None
        problems.append(
            FileProblem(name, line, "", Problem("", f"not YAML: {error.problem or error.context}"))
        )
    except (yaml.YAMLError, ValueError, TypeError, RecursionError) as error:
        words = " ".join(str(error).split()) or type(error).__name__
        problems.append(FileProblem(name, None, "", Problem("", f"not YAML: {words}")))
    return documents, problems


def _size(node: Node, known: dict[int, int]) -> int:
    """Nodes below, aliases expanded. Raises ValueError for an alias of something around it."""
    if id(node) not in known:
        known[id(node)] = 0  # While we are inside.
        below = _children(node)
        known[id(node)] = 1 + sum(_size(child, known) for child in below)
    elif known[id(node)] == 0:
        raise ValueError("an alias refers to what is around it")
    return known[id(node)]


def _children(node: Node) -> list[Node]:
    if isinstance(node, MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, SequenceNode) else []


def _twice(node: Node, path: str) -> Iterator[tuple[str, int]]:
    """Keys that stand twice in one mapping, which the loader would silently let pass."""
    if isinstance(node, MappingNode):
        seen = set()
        for key, value in node.value:
            name = str(key.value) if isinstance(key, ScalarNode) else "?"
            below = f"{path}.{name}" if path else name
            if name in seen and not key.tag.endswith(":merge"):
                yield below, _line(key)
            seen.add(name)
            yield from _twice(value, below)
    elif isinstance(node, SequenceNode):
        for index, value in enumerate(node.value):
            yield from _twice(value, f"{path}[{index}]")
