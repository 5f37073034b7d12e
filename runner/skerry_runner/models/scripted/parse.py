"""YAML text into a Script; every problem with its line and field path, all of them at once. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import yaml
from pydantic import ValidationError
from typing_extensions import override
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from skerry_api.problems import words_of
from skerry_runner.models.scripted.schema import Script
from skerry_runner.outcome import InvalidDocument

__all__ = ["ParsedScript", "parse_script"]

NODES_MAX = 100_000
"""Most nodes after aliases are expanded: a page of nested aliases can stand for billions."""
PROBLEMS_SHOWN = 10
_YAML_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True)
class ParsedScript:
    """A script, which text it came from, and the line of each step (from 1)."""

    script: Script
    digest: str
    lines: tuple[int, ...]
    source: str


@dataclass(frozen=True)
class _Problem:
    line: int
    path: str
    text: str

    @override
    def __str__(self) -> str:
        return (
            f"line {self.line}: {self.path}: {self.text}" if self.path else f"line {self.line}: {self.text}"
        )


def parse_script(text: str, *, source: str) -> ParsedScript:
    """Read a script.

    Raises:
        InvalidDocument: reason InvalidScript; the message names source, line and field path.
    """
    try:
        root = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _invalid(
            source, [_Problem(mark.line + 1 if mark else 1, "", error.problem or "not YAML")]
        ) from error
    except yaml.YAMLError as error:
        raise _invalid(source, [_Problem(1, "", f"not YAML: {' '.join(str(error).split())}")]) from error
    except RecursionError as error:
        raise _invalid(source, [_Problem(1, "", "nested too deeply")]) from error
    if root is None:
        raise _invalid(source, [_Problem(1, "", "empty; `steps` is required")])
    if problem := _too_large(root):
        raise _invalid(source, [problem])
    if problems := list(_twice(root, set())):
        raise _invalid(source, problems)

    loader = yaml.SafeLoader("")
    try:
        raw = loader.construct_document(root)
    except (yaml.MarkedYAMLError, ValueError, TypeError) as error:  # unknown tags, impossible dates, odd keys
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else root.start_mark.line + 1
        raise _invalid(source, [_Problem(line, "", str(getattr(error, "problem", None) or error))]) from error
    try:
        script = Script.model_validate(raw)
    except ValidationError as error:
        raise _invalid(source, [_of(root, item["loc"], words_of(item)) for item in error.errors()]) from error
    steps = _child(root, "steps")
    lines = tuple(step.start_mark.line + 1 for step in steps.value) if isinstance(steps, SequenceNode) else ()
    return ParsedScript(script, hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(), lines, source)


def _invalid(source: str, problems: Sequence[_Problem]) -> InvalidDocument:
    shown = sorted(dict.fromkeys(problems), key=lambda problem: problem.line)
    text = "; ".join(str(problem) for problem in shown[:PROBLEMS_SHOWN])
    if len(shown) > PROBLEMS_SHOWN:
        text += f"; and {len(shown) - PROBLEMS_SHOWN} more"
    return InvalidDocument("InvalidScript", source, text)


def _too_large(root: Node) -> _Problem | None:
    sizes: dict[int, int] = {}
    open_: set[int] = set()

    def size(node: Node) -> int:
        if id(node) in sizes:
            return sizes[id(node)]
        if id(node) in open_:
            raise RecursionError
        open_.add(id(node))
        sizes[id(node)] = total = 1 + sum(size(child) for child in _children(node))
        open_.discard(id(node))
        return total

    try:
        return _Problem(1, "", "too large once its aliases are expanded") if size(root) > NODES_MAX else None
    except RecursionError:
        return _Problem(1, "", "nested too deeply, or an alias refers to itself")


def _children(node: Node) -> Iterator[Node]:
    if isinstance(node, MappingNode):
        for key, value in node.value:
            yield key
            yield value
    elif isinstance(node, SequenceNode):
        yield from node.value


def _twice(node: Node, seen: set[int]) -> Iterator[_Problem]:
    """YAML's loader silently keeps the last of two equal keys."""
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, MappingNode):
        keys: set[str] = set()
        for key, _ in node.value:
            if isinstance(key, ScalarNode) and key.tag != f"{_YAML_TAG}merge":
                if key.value in keys:
                    yield _Problem(key.start_mark.line + 1, key.value, "stands here twice")
                keys.add(key.value)
    for child in _children(node):
        yield from _twice(child, seen)


def _child(node: Node, key: str | int) -> Node | None:
    if isinstance(node, MappingNode):
        for name, value in node.value:
            if isinstance(name, ScalarNode) and name.value == str(key):
                return value  # type: ignore[no-any-return]  # PyYAML's stubs know no more
    if isinstance(node, SequenceNode) and isinstance(key, int) and key < len(node.value):
        return node.value[key]  # type: ignore[no-any-return]  # as above
    return None


def _of(root: Node, location: tuple[str | int, ...], message: str) -> _Problem:
    """Follow a pydantic location as far as it leads; parts that name types of a union lead nowhere."""
    node, path, line = root, "", root.start_mark.line + 1
    for part in location:
        child = _child(node, part)
        if child is not None:
            node, line = child, child.start_mark.line + 1
            path += f"[{part}]" if isinstance(part, int) else f".{part}"
        elif part is location[-1] and isinstance(node, MappingNode):
            path += f".{part}"
    return _Problem(line, path.lstrip("."), message)
