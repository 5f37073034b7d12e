"""What is wrong with an input: where, and in which words. Everything that checks input speaks in these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import override

__all__ = ["Problem", "field_path", "problems_of", "words_of"]

_WORDS = {
    "extra_forbidden": "unknown field",
    "missing": "is required",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a mapping",
    "model_type": "must be a mapping",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "string_pattern_mismatch": "must match {pattern}",
}
"""By pydantic's type of error: words for people who write YAML, not Python."""


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
    return tuple(
        Problem(field_path(one["loc"]), words_of(one))
        for one in error.errors(include_url=False, include_input=False)
    )


def words_of(detail: ErrorDetails) -> str:
    """What one of pydantic's errors says, in the words that the rest of us uses."""
    words = _WORDS.get(detail["type"])
    if words is not None:
        return words.format_map(detail.get("ctx", {}))
    return detail["msg"].removeprefix("Value error, ")
