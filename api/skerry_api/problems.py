"""What is wrong with an input: where, and in which words. Everything that checks input speaks in these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError
from typing_extensions import override

__all__ = ["Problem", "field_path", "problems_of"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of one object.

    `path` is a field path as the API server writes it (`spec.model.name`, `spec.tools.enabled[2]`); of a field
    of another object it starts with kind and name (`AgentProfile coder: spec.systemPrompt`).
    """

    path: str
    message: str

    @override
    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


def field_path(location: Sequence[str | int]) -> str:
    """A location as pydantic gives it, as a field path: ("a", 2, "b") → `a[2].b`."""
    path = ""
    for part in location:
        path += f"[{part}]" if isinstance(part, int) else f".{part}" if path else part
    return path


def problems_of(error: ValidationError) -> tuple[Problem, ...]:
    """Every fault that pydantic found, without the faulty values (they may be long, or secret)."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    return tuple(Problem(field_path(one["loc"]), one["msg"]) for one in found)
